import type pg from 'pg';
import { codeOf } from '../errors/code-of.ts';
import { forgetBiLogin } from '../warehouse/bi-login.ts';
import { LoginClient } from '../warehouse/session/login-client.ts';
import { requiringScram } from '../warehouse/session/require-auth.ts';
import { scramVerifier } from '../warehouse/secrets/scram-verifier.ts';

/**
 * Makes the role `daybook` (no superuser; may create roles, for `daybook_reader`) and its database where they are missing, and takes
 * from everybody what only a superuser can take. `adminUrl` is the superuser's. Passwords are told as Postgres keeps them: its log has
 * the text of a statement that fails.
 * `passwordBefore` is what the owner had at the last start. Where that is another, what `daybook url` told is no longer let in either.
 * Returns undefined while the server does not take connections yet. Throws ServerUnproven.
 */
export async function prepareDatabase(
  adminUrl: string,
  ownerPassword: string,
  passwordBefore: string = ownerPassword,
): Promise<'ready' | undefined> {
  try {
    await withClient(adminUrl, (client) => prepareServer(client, ownerPassword));
    await withClient(ofDatabase(adminUrl), (client) => client.query(closeFunctions));
    if (ownerPassword !== passwordBefore)
      await withClient(ofOwner(adminUrl, ownerPassword), (client) => client.query(forgetBiLogin));
    return 'ready';
  } catch (error) {
    if (isNotYet(error)) return undefined;
    if (codeOf(error) !== wrongPassword) throw error;
    await separatePasswords(adminUrl, passwordBefore);
    return undefined;
  }
}

async function prepareServer(client: pg.Client, ownerPassword: string): Promise<void> {
  const { rows } = await client.query<{ role: boolean; database: boolean }>(
    `select exists (select from pg_roles where rolname = 'daybook') as role,
            exists (select from pg_database where datname = 'daybook') as database`,
  );
  // Each time: a start that was killed may have told it another one than is kept.
  const statement =
    rows[0]?.role === true ? 'alter role daybook password' : 'create role daybook login createrole password';
  await client.query(`${statement} '${scramVerifier(ownerPassword)}'`);
  if (rows[0]?.database !== true) await client.query('create database daybook owner daybook');
  // Whoever may log in has no business in the databases that are not Daybook's.
  await client.query('revoke all on database postgres, template1 from public');
}

/** Up to 0.5 the superuser had the owner's password. `adminUrl` has the one that it is to have. */
async function separatePasswords(adminUrl: string, passwordBefore: string): Promise<void> {
  const before = new URL(adminUrl);
  const { password } = before;
  before.password = passwordBefore;
  await withClient(before.href, (client) =>
    client.query(`alter role postgres password '${scramVerifier(decodeURIComponent(password))}'`),
  );
}

function ofDatabase(adminUrl: string): string {
  const url = new URL(adminUrl);
  url.pathname = 'daybook';
  return url.href;
}

/** Not as the superuser: what the owner has made of the tables, such as a trigger, would run as one. */
function ofOwner(adminUrl: string, password: string): string {
  const url = new URL(ofDatabase(adminUrl));
  url.username = 'daybook';
  url.password = password;
  return url.href;
}

/**
 * Functions that write to the disk without any right to a table, which everybody may call unless a superuser takes that away. Daybook itself
 * exports snapshots. The owner of the database may set any search path for it, also for a superuser.
 */
const closeFunctions = `
  set search_path = pg_catalog, pg_temp;
  do $$
  declare called regprocedure;
  begin
    for called in
      select oid from pg_proc
      where pronamespace = 'pg_catalog'::regnamespace and has_function_privilege('public', oid, 'execute')
        and proname in ('lo_creat', 'lo_create', 'lo_from_bytea', 'lo_open', 'lo_put', 'lowrite', 'pg_logical_emit_message',
          'pg_export_snapshot')
    loop
      execute format('revoke execute on function %s from public', called);
    end loop;
    grant execute on function pg_export_snapshot() to daybook;
  end $$`;

async function withClient<Result>(url: string, use: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new LoginClient({
    connectionString: requiringScram(url),
    connectionTimeoutMillis: 5000,
  });
  try {
    await client.connect();
    return await use(client);
  } finally {
    await client.end();
  }
}

/**
 * Nobody listens yet, or the server says that it is still starting up (57P03), perhaps recovering from a crash, or that it has no
 * connection left (53300): connections that do not log in end soon.
 */
function isNotYet(error: unknown): boolean {
  return ['ECONNREFUSED', 'ECONNRESET', '57P03', '53300'].includes(String(codeOf(error)));
}

const wrongPassword = '28P01';
