import { DatabaseError, type ClientBase } from 'pg';

/** What tells the server and the database behind a connection from copies of them, as far as an ordinary owner may see it. */
export interface ServerFacts {
  /** Of the cluster: a dump that is restored elsewhere gets another, a physical standby has the same. Null: not to be seen. */
  readonly system: string | null;
  /** Of the database: `create database … template` gives another. */
  readonly database: string;
  /** When the server process started: the same is the same server, another may be a restart, a failover or a copy of its files. */
  readonly started: string;
}

/** Not within a transaction: a server may refuse a part of it. */
export async function readServerFacts(client: Pick<ClientBase, 'query'>): Promise<ServerFacts> {
  const { rows } = await client.query<{ database: string; started: string }>(`
    select oid::text as database, extract(epoch from pg_postmaster_start_time())::text as started
    from pg_database where datname = current_database()
  `);
  const [facts] = rows;
  if (facts === undefined) throw new Error('Postgres does not list the database that it serves.');
  return { ...facts, system: await systemIdentifier(client) };
}

async function systemIdentifier(client: Pick<ClientBase, 'query'>): Promise<string | null> {
  try {
    const { rows } = await client.query<{ system: string }>(
      'select system_identifier::text as system from pg_control_system()',
    );
    return rows[0]?.system ?? null;
  } catch (error) {
    // Some managed servers keep it to themselves.
    if (error instanceof DatabaseError && (error.code === '42501' || error.code === '42883')) return null;
    throw error;
  }
}
