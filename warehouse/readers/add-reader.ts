import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { inTransaction } from '../transactions/in-transaction.ts';
import { UnknownConnection } from '../errors.ts';
import { loginUrl, makeLogin } from './make-login.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { expectOpens } from '../session/opens.ts';
import { shareWithTenants } from './share-with-tenants.ts';

export interface NewReader {
  readonly reader: string;
  readonly connections: readonly string[];
  /** The address with which Daybook reaches the database. */
  readonly databaseUrl: string;
}

export interface ReaderAdded {
  /** Contains the password, which is stored nowhere. */
  readonly url: URL;
  /** Statements that a server administrator has to run first if the owner of the warehouse may not create the login; otherwise null. */
  readonly statements: string | null;
}

/**
 * Creates a login that sees these connections and no others. An existing reader of that name sees these connections from then on, and gets a new
 * password. Throws UnknownConnection, LockHeld.
 */
export async function addReader(
  warehouse: Warehouse,
  { reader, connections, databaseUrl }: NewReader,
): Promise<ReaderAdded> {
  const login = await inTransaction(warehouse.pool, ({ db }) => noteReader(db, { reader, connections }));
  const hasRole = await shareWithTenants(warehouse);
  const password = randomBytes(24).toString('base64url');
  const url = loginUrl(databaseUrl, { login, password });
  const refused = await makeLogin(warehouse, { login, password, role: 'daybook_tenant' }, async (db) => {
    await db.selectFrom('sync.readers').select('login').where('login', '=', login).forUpdate().execute();
    return hasRole ? [] : ['create role daybook_tenant nologin'];
  });
  if (refused === undefined) await expectOpens(url);
  const statements = refused?.statements.map((statement) => `${statement};\n`).join('') ?? null;
  return { url, statements };
}

/** Stores which connections a reader sees. Returns the login. */
async function noteReader(
  db: Warehouse['db'],
  { reader, connections }: Pick<NewReader, 'reader' | 'connections'>,
): Promise<string> {
  await refuseUnknown(db, connections);
  // Everybody can read the names of roles, so this one says nothing. In a copy of the database, the stored login is the original's.
  const made = `daybook_reader_${randomBytes(6).toString('hex')}`;
  const { rows } = await sql<{ login: string }>`
    insert into sync.readers as known (reader, login, database_name)
    values (${reader}, ${made}, current_database())
    on conflict (reader) do update set
      login = case when known.database_name = excluded.database_name then known.login else excluded.login end,
      database_name = excluded.database_name,
      password_set_at = clock_timestamp()
    returning login
  `.execute(db);
  await db.deleteFrom('sync.reader_connections').where('reader', '=', reader).execute();
  await db
    .insertInto('sync.reader_connections')
    .values([...new Set(connections)].map((connection_id) => ({ reader, connection_id })))
    .execute();
  return rows[0]?.login ?? '';
}

/**
 * Throws UnknownConnection for an unknown name. A connection of which only records are left is known, because it has readers too. Rows stay locked,
 * so that no removal comes between.
 */
async function refuseUnknown(db: Warehouse['db'], connections: readonly string[]): Promise<void> {
  const known = new Set<string>();
  for (const table of ['sync.connections', 'sync.kept_data'] as const) {
    const rows = await db
      .selectFrom(table)
      .select('connection_id')
      .where('connection_id', 'in', connections)
      .forKeyShare()
      .execute();
    for (const { connection_id: name } of rows) known.add(name);
  }
  const unknown = connections.find((name) => !known.has(name));
  if (unknown !== undefined) throw new UnknownConnection(unknown);
}
