import { databaseAddress, type DatabaseAddress } from '../warehouse/session/database-address.ts';
import { requireAuthOf } from '../warehouse/session/require-auth.ts';

/** The address of a Postgres as parameters of libpq. */
export interface LibpqAddress {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly dbname: string;
  /** Undefined if the server need not prove that it knows the password. */
  readonly requireAuth: string | undefined;
  /** sslmode, and the files it needs. */
  readonly tls: Readonly<Record<string, string>>;
}

/**
 * Converts a connection string for programs that use libpq: they connect like the driver for Node does, with no weaker verification of the server.
 * `authoritiesFile` holds the authorities that Node trusts.
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

/** The driver for Node treats `require` as `verify-full`, libpq does not. If TLS is not configured, libpq still encrypts if it can. */
const sslModes: Readonly<Record<DatabaseAddress['tls'], string>> = {
  none: 'prefer',
  unproved: 'require',
  authority: 'verify-ca',
  full: 'verify-full',
};

/** Passes files by their paths, and an explicit `disable`. */
function tlsParameters(
  databaseUrl: string,
  { tls, authoritiesFile }: { tls: DatabaseAddress['tls']; authoritiesFile: string },
): Record<string, string> {
  // If a parameter is repeated, the driver uses the last.
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
