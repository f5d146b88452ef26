import { databaseAddress, type DatabaseAddress } from '../warehouse/session/database-address.ts';
import { requireAuthOf } from '../warehouse/session/require-auth.ts';

/** A Postgres as libpq is told of it, in the words of its parameters. */
export interface LibpqAddress {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly dbname: string;
  /** Undefined where the server need not prove that it knows the password. */
  readonly requireAuth: string | undefined;
  /** sslmode, and what files it needs. */
  readonly tls: Readonly<Record<string, string>>;
}

/**
 * The Postgres of a connection string, as programs that use libpq want it: reached as the driver of Node reaches it, and asked for no
 * less proof of who it is. `authoritiesFile` has those that Node trusts.
 */
export function libpqAddress(databaseUrl: string, authoritiesFile: string): LibpqAddress {
  const { host, port, user, password, database, tls } = databaseAddress(databaseUrl);
  return {
    host,
    port,
    user,
    password,
    dbname: database,
    requireAuth: requireAuthOf(databaseUrl),
    tls: { sslmode: sslModes[tls], ...tlsParameters(databaseUrl, { tls, authoritiesFile }) },
  };
}

/** The driver of Node takes `require` for `verify-full`, libpq does not. Where nothing is said libpq still encrypts if it can. */
const sslModes: Readonly<Record<DatabaseAddress['tls'], string>> = {
  none: 'prefer',
  unproved: 'require',
  authority: 'verify-ca',
  full: 'verify-full',
};

/** Files go by their paths, and that TLS is not wanted is said. */
function tlsParameters(
  databaseUrl: string,
  { tls, authoritiesFile }: { tls: DatabaseAddress['tls']; authoritiesFile: string },
): Record<string, string> {
  // Of several the driver takes the last.
  const parameters = Object.fromEntries(new URL(databaseUrl).searchParams);
  const names = [
    'sslcert',
    'sslkey',
    'sslrootcert',
    ...(parameters.sslmode === 'disable' ? ['sslmode'] : []),
  ];
  const said = names.flatMap((name) => (parameters[name] === undefined ? [] : [[name, parameters[name]]]));
  return {
    ...(tls === 'full' ? { sslrootcert: authoritiesFile } : {}),
    ...(Object.fromEntries(said) as Record<string, string>),
  };
}
