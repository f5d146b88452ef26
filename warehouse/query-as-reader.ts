import type { QueryArrayConfig } from 'pg';
import type { Warehouse } from './open-warehouse.ts';
import { inTransaction } from './in-transaction.ts';

export interface QueryResult {
  columns: string[];
  /** Values as Postgres writes them, so that every digit is there; whole numbers and booleans as such. */
  rows: (string | number | boolean | null)[][];
}

/** Runs one statement as the role for readers, in a read-only transaction. */
export async function queryAsReader({ pool }: Warehouse, statement: string): Promise<QueryResult> {
  return inTransaction(pool, async (client) => {
    await client.query('set transaction read only');
    await client.query('set local role daybook_reader');
    const query: QueryArrayConfig & { queryMode: 'extended' } = {
      text: statement,
      rowMode: 'array',
      // The extended protocol takes one statement only: "…; reset role; …" is a syntax error.
      queryMode: 'extended',
      types: { getTypeParser: parserOf },
    };
    const result = await client.query<QueryResult['rows'][number]>(query);
    return { columns: result.fields.map(({ name }) => name), rows: result.rows };
  });
}

function parserOf(oid: number): (value: string) => string | number | boolean {
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
