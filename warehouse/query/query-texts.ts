import type { PoolClient, QueryArrayConfig } from 'pg';

export interface QueryResult {
  columns: string[];
  /** Values as Postgres writes them, with every digit; whole numbers and booleans as such. */
  rows: (string | number | boolean | null)[][];
}

/** The text of a statement, alone or with the values of its parameters. */
export type Statement = string | { readonly text: string; readonly values: unknown[] };

/** Runs exactly one statement. */
export async function queryTexts(client: PoolClient, statement: Statement): Promise<QueryResult> {
  const query: QueryArrayConfig & { queryMode: 'extended' } = {
    ...(typeof statement === 'string' ? { text: statement } : statement),
    rowMode: 'array',
    // The extended protocol takes one statement only: "…; reset role; …" is a syntax error.
    queryMode: 'extended',
    types: { getTypeParser: chooseParser },
  };
  const result = await client.query<QueryResult['rows'][number]>(query);
  return { columns: result.fields.map(({ name }) => name), rows: result.rows };
}

function chooseParser(oid: number): (value: string) => string | number | boolean {
  if (oid === boolean) return (value) => value === 't';
  if (wholeNumbers.has(oid)) return wholeNumber;
  return String;
}

function wholeNumber(value: string): string | number {
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

const boolean = 16;
/** int8, int2, int4. */
const wholeNumbers = new Set([20, 21, 23]);
