import type { PoolClient, QueryArrayConfig } from 'pg';
import type { Warehouse } from './open-warehouse.ts';
import { inTransaction } from './in-transaction.ts';

export interface QueryResult {
  columns: string[];
  /** Values as Postgres writes them, so that every digit is there; whole numbers and booleans as such. */
  rows: (string | number | boolean | null)[][];
}

/** The role for readers is not there, or may not be taken. */
export class ReaderRoleMissing extends Error {
  override readonly name = 'ReaderRoleMissing';

  constructor(cause: Error) {
    super(
      'The role daybook_reader is missing or not granted to this user: have an administrator run the SQL that "daybook migrate" prints.',
      { cause },
    );
  }
}

/** Runs one statement as the role for readers, in a read-only transaction. Throws ReaderRoleMissing. */
export async function queryAsReader({ pool }: Warehouse, statement: string): Promise<QueryResult> {
  return inTransaction(pool, async (client) => {
    await client.query('set transaction read only');
    await becomeReader(client);
    return queryTexts(client, statement);
  });
}

/** For the rest of the transaction. Throws ReaderRoleMissing. */
export async function becomeReader(client: PoolClient): Promise<void> {
  try {
    await client.query('set local role daybook_reader');
  } catch (error) {
    // 42501: not a member; 22023: no such role.
    if (error instanceof Error && 'code' in error && ['42501', '22023'].includes(String(error.code))) {
      throw new ReaderRoleMissing(error);
    }
    throw error;
  }
}

/** Runs one statement, and no more than one. */
export async function queryTexts(client: PoolClient, statement: string): Promise<QueryResult> {
  const query: QueryArrayConfig & { queryMode: 'extended' } = {
    text: statement,
    rowMode: 'array',
    // The extended protocol takes one statement only: "…; reset role; …" is a syntax error.
    queryMode: 'extended',
    types: { getTypeParser: parserOf },
  };
  const result = await client.query<QueryResult['rows'][number]>(query);
  return { columns: result.fields.map(({ name }) => name), rows: result.rows };
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
