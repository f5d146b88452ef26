import { sql } from 'kysely';
import { inTransaction } from '../transactions/in-transaction.ts';
import { codeOf } from '../../errors/code-of.ts';
import type { Warehouse } from '../open-warehouse.ts';

export class UnknownReader extends Error {
  override readonly name = 'UnknownReader';
  readonly handling = 'stop';

  constructor(reader: string) {
    super(`There is no reader ${reader}. "daybook reader list" names those there are.`);
  }
}

/**
 * Removes a reader: once it sees nothing and has no CONNECT, its sessions end and the login is dropped. Returns the SQL that a server administrator
 * has to run if the owner may not do that, or if the login owns something or was given more than Daybook gave it; otherwise null. After a crash it
 * can be run again. Throws UnknownReader.
 */
export async function removeReader({ pool }: Warehouse, reader: string): Promise<string | null> {
  const login = await inTransaction(pool, ({ db }) => closeLogin(db, reader));
  return inTransaction(pool, async ({ db }) => {
    const statements = login === null ? null : await dropLogin(db, login);
    await db.deleteFrom('sync.readers').where('reader', '=', reader).execute();
    return statements;
  });
}

/**
 * Revokes what the reader sees, and returns the login if it is this database's. It stays a member of daybook_tenant: that restricts it, to nothing
 * now, as long as it exists, whatever else it was given.
 */
async function closeLogin(db: Warehouse['db'], reader: string): Promise<string | null> {
  const found = await db
    .selectFrom('sync.readers')
    .select(['login', sql<boolean>`database_name = current_database()`.as('is_ours')])
    .where('reader', '=', reader)
    .forUpdate()
    .executeTakeFirst();
  if (found === undefined) throw new UnknownReader(reader);
  const { login, is_ours: isOurs } = found;
  await db.deleteFrom('sync.reader_connections').where('reader', '=', reader).execute();
  if (!isOurs) return null;
  const { rows } = await sql<{ revoke: string }>`
    select format('revoke connect on database %I from %I', current_database(), rolname) as revoke
    from pg_roles where rolname = ${login}
  `.execute(db);
  const [role] = rows;
  if (role === undefined) return null;
  await isDone(db, [role.revoke]);
  return login;
}

async function dropLogin(db: Warehouse['db'], login: string): Promise<string | null> {
  // A login may change its own row; its lock goes when its sessions end.
  await sql`set local lock_timeout = '5s'`.execute(db);
  const endSessions = `select pg_terminate_backend(pid, 5000) from pg_stat_activity where usename = '${login}'`;
  const dropOwned = `drop owned by ${login}`;
  const drop = `drop role ${login}`;
  const isDropped = await isDone(db, [
    // Only a member of a role may end its sessions and drop what it owns.
    `grant ${login} to current_user`,
    endSessions,
    ...((await ownsSomething(db, login)) ? [] : [dropOwned]),
    drop,
  ]);
  if (isDropped) return null;
  await isDone(db, [`alter role ${login} nologin`]);
  return [endSessions, dropOwned, drop].map((statement) => `${statement};\n`).join('');
}

/** Whether the login owns something that somebody may miss, which default privileges, allowed to everybody, are not. */
async function ownsSomething(db: Warehouse['db'], login: string): Promise<boolean> {
  const { rows } = await sql<{ owns: boolean }>`
    select exists (
      select from pg_shdepend
      where refclassid = 'pg_authid'::regclass and refobjid = to_regrole(${login}) and deptype = 'o'
        and dbid = (select oid from pg_database where datname = current_database())
        and classid <> 'pg_default_acl'::regclass
    ) as owns
  `.execute(db);
  return rows[0]?.owns === true;
}

/** Runs the statements, and returns whether Postgres did: they are allowed, nothing depends on their object, and no lock is in the way. */
async function isDone(db: Warehouse['db'], statements: readonly string[]): Promise<boolean> {
  await sql`savepoint before`.execute(db);
  try {
    for (const statement of statements) await sql.raw(statement).execute(db);
    return true;
  } catch (error) {
    if (!['42501', '2BP01', '55P03'].includes(String(codeOf(error)))) throw error;
    await sql`rollback to savepoint before`.execute(db);
    return false;
  }
}
