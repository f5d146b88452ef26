import { isIPv6 } from 'node:net';
import { sql } from 'kysely';
import { databaseAddress } from '../session/database-address.ts';
import { inTransaction } from '../transactions/in-transaction.ts';
import { codeOf } from '../../errors/code-of.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { scramVerifier } from '../secrets/scram-verifier.ts';
import { changersOfRoles, isLockRefused, LockHeld } from '../transactions/taking-locks.ts';
import { withoutParameters } from '../session/without-parameters.ts';

/** A login to create, or to repair. */
export interface NewLogin {
  readonly login: string;
  readonly password: string;
  /** The role that it is a member of. */
  readonly role: string;
}

/** Statements for a server administrator, because the owner of the warehouse may not create the login. */
export interface LoginRefused {
  readonly statements: readonly string[];
  readonly cause: unknown;
}

/**
 * Creates a login that reads this database. `begin` begins the transaction: it takes a lock, so that one process at a time creates the login, and
 * returns statements to run first. Returns undefined if the login was created. Throws LockHeld.
 */
export async function makeLogin(
  { pool }: Warehouse,
  wanted: NewLogin,
  begin: (db: Warehouse['db']) => Promise<readonly string[]>,
): Promise<LoginRefused | undefined> {
  let statements: readonly string[] = [];
  try {
    await inTransaction(pool, async ({ db }) => {
      // A login may change its own row, and hold that lock for as long as it likes.
      await sql`set local lock_timeout = '5s'`.execute(db);
      statements = [...(await begin(db)), ...(await loginStatements(db, wanted))];
      for (const statement of statements) await sql.raw(statement).execute(db);
    });
    return undefined;
  } catch (cause) {
    if (isLockRefused(cause))
      throw new LockHeld(`Making the login ${wanted.login}`, await changersOfRoles(pool));
    if (codeOf(cause) !== insufficientPrivilege) throw cause;
    return { statements, cause };
  }
}

const insufficientPrivilege = '42501';

/** Returns the address with which the login reaches the database, without any of Daybook's own credentials. */
export function loginUrl(
  databaseUrl: string,
  { login, password }: Pick<NewLogin, 'login' | 'password'>,
): URL {
  const url = new URL(databaseUrl);
  const isWithoutHost = url.hostname === '';
  // An address without a host has no place for a login in front of it.
  if (isWithoutHost) url.hostname = formatHostname(databaseAddress(databaseUrl).host);
  url.username = login;
  url.password = password;
  url.hash = '';
  return withoutParameters(url, isWithoutHost ? [...credentials, 'host'] : credentials);
}

/** The directory of a socket is encoded; IPv6 is put in brackets. */
function formatHostname(host: string): string {
  return isIPv6(host) ? `[${host}]` : encodeURIComponent(host);
}

/** Parameters that take precedence over the credentials in front of the host. Paths of certificates stay: a server may require one of every login. */
const credentials = [
  'user',
  'password',
  'passfile',
  'sslpassword',
  'oauth_client_secret',
  'scram_client_key',
  'scram_server_key',
];

/** Postgres gets only the SCRAM verifier of the password, not the password itself. */
async function loginStatements(db: Warehouse['db'], { login, password, role }: NewLogin): Promise<string[]> {
  const { rows } = await sql<{ there: boolean; database: string }>`
    select exists (select from pg_roles where rolname = ${login}) as there,
      quote_ident(current_database()) as database
  `.execute(db);
  const [{ there, database } = { there: false, database: '' }] = rows;
  return [
    `${there ? 'alter' : 'create'} role ${login} login password '${scramVerifier(password)}'`,
    `grant ${role} to ${login}`,
    `grant connect on database ${database} to ${login}`,
    `alter role ${login} reset all`,
    `alter role ${login} in database ${database} reset all`,
    ...Object.entries(settingsOfLogin).map(([name, value]) => `alter role ${login} set ${name} = '${value}'`),
  ];
}

/** Settings with which its sessions begin. */
export const settingsOfLogin: Readonly<Record<string, string>> = {
  default_transaction_read_only: 'on',
  TimeZone: 'UTC',
};
