import { isIPv6 } from 'node:net';
import { sql } from 'kysely';
import { databaseAddress } from '../session/database-address.ts';
import { inTransaction } from '../transactions/in-transaction.ts';
import { codeOf } from '../../errors/code-of.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { scramVerifier } from '../secrets/scram-verifier.ts';
import { changersOfRoles, isLockRefused, LockHeld } from '../transactions/taking-locks.ts';
import { withoutParameters } from '../session/without-parameters.ts';

/** A login to make, or to make right again. */
export interface NewLogin {
  readonly login: string;
  readonly password: string;
  /** Of which it is a member. */
  readonly role: string;
}

/** The owner of the warehouse may not make the login: an administrator of the server runs these. */
export interface LoginRefused {
  readonly statements: readonly string[];
  readonly cause: unknown;
}

/**
 * Makes a login that reads this database. `begin` begins the transaction: it locks, since one makes it at a time, and returns what is to be run
 * before. Returns undefined when it was made. Throws LockHeld.
 */
export async function makeLogin(
  { pool }: Warehouse,
  wanted: NewLogin,
  begin: (db: Warehouse['db']) => Promise<readonly string[]>,
): Promise<LoginRefused | undefined> {
  let statements: readonly string[] = [];
  try {
    await inTransaction(pool, async ({ db }) => {
      // A login may change its own row, and keep it for as long as it likes.
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

/** How Daybook reaches the database, as the login. Of Daybook's own login nothing is left in it. */
export function loginUrl(
  databaseUrl: string,
  { login, password }: Pick<NewLogin, 'login' | 'password'>,
): URL {
  const url = new URL(databaseUrl);
  const isWithoutHost = url.hostname === '';
  // An address without a host has no place for a login in front of it.
  if (isWithoutHost) url.hostname = hostnameOf(databaseAddress(databaseUrl).host);
  url.username = login;
  url.password = password;
  url.hash = '';
  return withoutParameters(url, isWithoutHost ? [...credentials, 'host'] : credentials);
}

/** The folder of a socket is encoded, IPv6 is in brackets. */
function hostnameOf(host: string): string {
  return isIPv6(host) ? `[${host}]` : encodeURIComponent(host);
}

/** As parameters these win over what stands in front of the host. Paths of certificates stay: a server may want one of every login. */
const credentials = [
  'user',
  'password',
  'passfile',
  'sslpassword',
  'oauth_client_secret',
  'scram_client_key',
  'scram_server_key',
];

/** Postgres gets what it keeps of the password, and not the password itself. */
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

/** What its sessions begin with. */
export const settingsOfLogin: Readonly<Record<string, string>> = {
  default_transaction_read_only: 'on',
  TimeZone: 'UTC',
};
