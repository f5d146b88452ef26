import { createHash, randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { inTransaction } from './transactions/in-transaction.ts';
import { loginUrl, makeLogin, settingsOfLogin } from './readers/make-login.ts';
import type { Warehouse } from './open-warehouse.ts';
import { expectOpens, opens } from './session/opens.ts';
import { checkSecretKey } from './secrets/check-secret-key.ts';
import { openToken, sealToken } from './secrets/sealed-token.ts';
import { warehouseId } from './warehouse-id.ts';

/** Thrown when the owner of the warehouse cannot create the login. */
class LoginNotAllowed extends Error {
  override readonly name = 'LoginNotAllowed';

  constructor(statements: string, cause: unknown) {
    super(
      `This Postgres user may not create the login for readers. Have a server administrator run this once: ${statements}`,
      { cause },
    );
  }
}

/**
 * Returns the URL with which people and BI tools read the warehouse. Its login is separate, a member of `daybook_reader`, and cannot write. It is
 * created on first use and then stays the same. Postgres lets its users change the role's settings; such changes are reverted here. Throws
 * LoginNotAllowed, WrongSecretKey.
 */
export async function biLoginUrl(
  warehouse: Warehouse,
  { key, databaseUrl }: { key: Buffer; databaseUrl: string },
): Promise<URL> {
  await checkSecretKey(warehouse, key);
  const settled = await settledPassword(warehouse, key);
  const url = loginUrl(databaseUrl, settled);
  if ((await opens(url)) && (await isAsMade(warehouse, settled.login))) return url;
  const refused = await makeLogin(warehouse, { ...settled, role: 'daybook_reader' }, async (db) => {
    await keptLogin(db);
    return [];
  });
  if (refused !== undefined) throw new LoginNotAllowed(`${refused.statements.join('; ')};`, refused.cause);
  await expectOpens(url);
  return url;
}

/** Encrypts the password with the new key, within the transaction of a rotation. */
export async function resealBiLogin(
  db: Warehouse['db'],
  { from, to }: { from: Buffer; to: Buffer },
): Promise<void> {
  const kept = await keptLogin(db);
  if (kept === undefined) return;
  const { login, sealed } = kept;
  const password = openToken(from, { connectionId: login, sealed: Buffer.from(sealed, 'base64') });
  await db
    .updateTable('sync.settings')
    .set({ value: sealedLogin(to, { login, password }) })
    .where('name', '=', setting)
    .execute();
}

/**
 * Removes the password from the login and deletes the setting, so that the next `biLoginUrl` creates another. Meant for the owner of a database of
 * which nothing else is known; it may hold no warehouse yet.
 */
export const forgetBiLogin = `
  do $$
  declare known text;
  begin
    if to_regclass('sync.settings') is null then return; end if;
    delete from sync.settings where name = 'bi_login' returning split_part(value, ' ', 1) into known;
    if exists (select from pg_roles where rolname = known) then
      execute format('alter role %I password null', known);
    end if;
  end $$`;

/** The setting that holds the login and its password, encrypted with the secret key. */
const setting = 'bi_login';

interface Login {
  readonly login: string;
  readonly password: string;
}

/** Returns the login's stored password, or stores a new one. Two processes that ask at once get the same one. */
async function settledPassword(warehouse: Warehouse, key: Buffer): Promise<Login> {
  const login = await loginName(warehouse);
  return inTransaction(warehouse.pool, async ({ db }) => {
    const made = { login, password: randomBytes(24).toString('base64url') };
    await db
      .insertInto('sync.settings')
      .values({ name: setting, value: sealedLogin(key, made) })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    const kept = await keptLogin(db);
    if (kept?.login === login)
      return {
        login,
        password: openToken(key, { connectionId: login, sealed: Buffer.from(kept.sealed, 'base64') }),
      };
    // This database is a copy, and the stored login is the original's.
    await db
      .updateTable('sync.settings')
      .set({ value: sealedLogin(key, made) })
      .where('name', '=', setting)
      .execute();
    return made;
  });
}

/** Unique to the database, because logins belong to the server, which may hold several warehouses and copies of one. */
async function loginName(warehouse: Warehouse): Promise<string> {
  const { rows } = await warehouse.pool.query<{ name: string }>('select current_database() as name');
  const place = `${await warehouseId(warehouse)}/${rows[0]?.name ?? ''}`;
  return `daybook_bi_${createHash('sha256').update(place).digest('hex').slice(0, 8)}`;
}

async function keptLogin(db: Warehouse['db']): Promise<{ login: string; sealed: string } | undefined> {
  const kept = await db
    .selectFrom('sync.settings')
    .select('value')
    .where('name', '=', setting)
    .forUpdate()
    .executeTakeFirst();
  const [login = '', sealed = ''] = kept?.value.split(' ') ?? [];
  return kept === undefined ? undefined : { login, sealed };
}

function sealedLogin(key: Buffer, { login, password }: Login): string {
  return `${login} ${sealToken(key, { connectionId: login, token: password }).toString('base64')}`;
}

/** Whether sessions of the login begin with our settings and no others. */
async function isAsMade({ db }: Warehouse, login: string): Promise<boolean> {
  const { rows } = await sql<{ setting: string }>`
    select unnest(setconfig) as setting
    from pg_db_role_setting
    where setrole = (select oid from pg_roles where rolname = ${login})
      and setdatabase in (0, (select oid from pg_database where datname = current_database()))
  `.execute(db);
  const ours = Object.entries(settingsOfLogin).map(([name, value]) => `${name}=${value}`);
  return (
    rows
      .map(({ setting }) => setting)
      .sort()
      .join() === ours.sort().join()
  );
}
