import { DatabaseError, type ClientBase } from 'pg';

/** Facts that tell the server and the database behind a connection from their copies, as far as an ordinary owner may see them. */
export interface ServerFacts {
  /** Identifier of the cluster: a dump restored elsewhere gets another, a physical standby has the same. Null: not visible. */
  readonly system: string | null;
  /** Identifier of the database: `create database … template` gives another. */
  readonly database: string;
  /** When the server process started. The same time means the same server; another may mean a restart, a failover or a copy of its files. */
  readonly started: string;
}

/** Reads the facts, outside a transaction, because a server may refuse one of the statements. */
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
    // Some managed servers do not reveal it.
    if (error instanceof DatabaseError && (error.code === '42501' || error.code === '42883')) return null;
    throw error;
  }
}
