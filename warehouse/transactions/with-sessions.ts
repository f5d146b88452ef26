import { Kysely, PostgresDialect } from 'kysely';
import type { Pool, PoolClient, QueryConfig, QueryResult } from 'pg';
import { isReadOnly } from '../session/is-database-away.ts';
import type { Warehouse } from '../open-warehouse.ts';
import type { Database } from '../tables/database.ts';

/** Returns the warehouse over the same pool, with sessions taken by `connect`, both for a transaction and for one statement. */
export function withSessions(warehouse: Warehouse, connect: () => Promise<PoolClient>): Warehouse {
  const query = async (statement: string | QueryConfig, values?: unknown[]): Promise<QueryResult> => {
    const client = await connect();
    let broken: Error | undefined;
    try {
      return await client.query(statement, values);
    } catch (error) {
      // The same as in `inTransaction`.
      if (isReadOnly(error)) broken = error;
      throw error;
    } finally {
      client.release(broken);
    }
  };
  const pool = Object.create(warehouse.pool, {
    connect: { value: connect },
    query: { value: query },
  }) as Pool;
  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });
  return { pool, db, close: () => warehouse.close() };
}
