import { randomUUID } from 'node:crypto';
import { openSession, type UtcClient } from './open-session.ts';

/**
 * The pooler between Daybook and Postgres: none; one that leaves each client its session; or one that lends a session for a transaction at a time.
 */
export type Pooler = 'none' | 'session mode' | 'transaction mode';

/** Through this pooler nothing would work, or another client's prepared statements would run. */
export class PoolerUnfit extends Error {
  override readonly name = 'PoolerUnfit';
  readonly handling = 'stop';
  readonly isUsage = true;

  constructor(variable: string, what: string) {
    super(
      `${variable} leads to a pooler ${what}: make it PgBouncer 1.21 or newer with pool_mode = transaction and max_prepared_statements = 200, ` +
        `or give ${variable} the address of Postgres itself.`,
    );
  }
}

/**
 * Returns the kind of pooler that a URL leads to, judged by its behavior, because poolers do not identify themselves. Throws PoolerUnfit for one that
 * lends sessions with the prepared statements of others in them, or that ends a transaction after each statement.
 */
export async function checkPooler(url: string, variable: string): Promise<Pooler> {
  const client = await openSession(url, { application });
  try {
    // A pooler answers a login in place of the server, with its own process ID.
    if (client.processID === (await readBackendPid(client))) return 'none';
    const keepsApart = await keepsStatementsApart(client, variable);
    if (!(await lendsSession(client, url))) return 'session mode';
    if (!keepsApart) throw new PoolerUnfit(variable, 'that mixes up the prepared statements of its clients');
    return 'transaction mode';
  } finally {
    await client.end();
  }
}

const application = 'daybook check';

async function readBackendPid(client: UtcClient): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid;
}

/** Whether prepared statements are kept apart: a pooler that supports them gives them its own names. */
async function keepsStatementsApart(client: UtcClient, variable: string): Promise<boolean> {
  const name = `daybook check ${randomUUID()}`;
  try {
    await client.query('begin');
    await client.query({ name, text: 'select 1' });
    const { rowCount } = await client.query('select from pg_prepared_statements where name = $1', [name]);
    if (rowCount !== 0) await client.query(`deallocate "${name}"`);
    await client.query('commit');
    return rowCount === 0;
  } catch (error) {
    if (error instanceof Error && error.message.includes('statement pooling'))
      throw new PoolerUnfit(variable, 'that allows no transactions');
    throw error;
  }
}

/**
 * Whether another client gets the session of this one, or this one gets another: an idle pooler lends the session that was returned last, and a busy
 * one soon lends any.
 */
async function lendsSession(client: UtcClient, url: string): Promise<boolean> {
  const other = await openSession(url, { application });
  try {
    const first = await readBackendPid(client);
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const [mine, its] = [await readBackendPid(client), await readBackendPid(other)];
      if (mine !== first || mine === its) return true;
    }
    return false;
  } finally {
    await other.end();
  }
}
