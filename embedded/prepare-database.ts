import type pg from 'pg';
import { codeOf } from '../errors/code-of.ts';
import { forgetBiLogin } from '../warehouse/bi-login.ts';
import { LoginClient } from '../warehouse/session/login-client.ts';
import { requiringScram } from '../warehouse/session/require-auth.ts';
import { scramVerifier } from '../warehouse/secrets/scram-verifier.ts';

/**
 * Creates the role `daybook` (no superuser; may create roles, for `daybook_reader`) and its database if they are missing, and revokes
 * rights of PUBLIC that only a superuser can revoke. `adminUrl` is the superuser's. Passwords are sent as Postgres's verifiers, because its
 * log contains the text of failed statements.
 * `passwordBefore` is the owner's password at the last start; if the new one differs, addresses that `daybook url` gave out stop working.
 * Returns undefined while the server does not accept connections yet. Throws ServerUnproven.
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
  // Set at each start: a start that was killed may have set a password other than the stored one.
  const statement =
    rows[0]?.role === true ? 'alter role daybook password' : 'create role daybook login createrole password';
  await client.query(`${statement} '${scramVerifier(ownerPassword)}'`);
  if (rows[0]?.database !== true) await client.query('create database daybook owner daybook');
  // Logins have no need to connect to databases other than Daybook's.
  await client.query('revoke all on database postgres, template1 from public');
}

/** Up to 0.5, the superuser had the owner's password. `adminUrl` has the one that it should have. */
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

/** Not as the superuser: code that the owner attached to tables, such as a trigger, would run with its rights. */
function ofOwner(adminUrl: string, password: string): string {
  const url = new URL(ofDatabase(adminUrl));
  url.username = 'daybook';
  url.password = password;
  return url.href;
}

/**
 * Functions that write to the disk without any right to a table, and that PUBLIC may call until a superuser revokes it. Daybook itself
 * exports snapshots. The search path is set here, because the database's owner may set any search path for it, even for a superuser.
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
 * True if nobody listens yet, if the server is still starting up (57P03), perhaps recovering from a crash, or if it has no connection
 * left (53300): connections that do not log in are closed soon.
 */
function isNotYet(error: unknown): boolean {
  return ['ECONNREFUSED', 'ECONNRESET', '57P03', '53300'].includes(String(codeOf(error)));
}

const wrongPassword = '28P01';
