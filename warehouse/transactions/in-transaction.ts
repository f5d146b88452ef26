import { Kysely, PostgresDialect } from 'kysely';
import type { Pool, PoolClient } from 'pg';
import { isReadOnly } from '../session/is-database-away.ts';
import type { Database } from '../tables/database.ts';

/** One open transaction, through two interfaces. */
export interface OpenTransaction {
  /** For SQL as text: statements on sets of rows, and named prepared statements. */
  readonly client: PoolClient;
  /** For single rows, with their types. */
  readonly db: Kysely<Database>;
}

/** Overrides the default of the server, the database or the role: a statement after a lock has to see what was committed while it waited for that. */
export const beginStatement = 'begin isolation level read committed';

/**
 * Runs `work` in one transaction, which is committed when it returns and rolled back when it throws. docs/architecture.md ("Transactions and SQL")
 * lists the few that are opened elsewhere.
 */
export async function inTransaction<Result>(
  pool: Pool,
  work: (transaction: OpenTransaction) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query(beginStatement);
    const result = await work(openOn(client));
    await client.query('commit');
    return result;
  } catch (error) {
    // The connection may lead to a primary that has become a standby; a new one would lead to the current primary.
    if (isReadOnly(error)) broken = error;
    // A connection that cannot roll back is not given back to the pool; the error that matters is the first one.
    await client.query('rollback').catch((rollbackError: unknown) => {
      broken = rollbackError instanceof Error ? rollbackError : new Error('rollback failed');
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

function openOn(client: PoolClient): OpenTransaction {
  return {
    client,
    get db() {
      return kyselyFor(client);
    },
  };
}

/** Returns the Kysely instance of a session, kept because creating one takes longer than many statements. */
function kyselyFor(client: PoolClient): Kysely<Database> {
  const known = kyselies.get(client);
  if (known !== undefined) return known;
  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool: poolOfOne(client) }) });
  kyselies.set(client, db);
  return db;
}

const kyselies = new WeakMap<PoolClient, Kysely<Database>>();

/** Returns a pool of this one client, as Kysely expects one: releasing does nothing. */
function poolOfOne(client: PoolClient): ConstructorParameters<typeof PostgresDialect>[0]['pool'] {
  const lent = {
    get query() {
      return client.query.bind(client);
    },
    release: () => undefined,
  };
  return { connect: () => Promise.resolve(lent), end: () => Promise.resolve() };
}
