import { databaseAddress, type DatabaseAddress } from '../warehouse/database-address.ts';
import { dbtApplication } from '../warehouse/marts/build-lock.ts';
import { requireAuthOf, requireAuthVariable } from '../warehouse/require-auth.ts';

/**
 * The Postgres of a connection string, as dbt's profile wants it: reached as the driver of Node reaches it, and asked for no less
 * proof of who it is. The password goes by the environment alone, and so does how to log in, for which a profile has no name.
 * `authoritiesFile` has those that Node trusts.
 */
export function postgresOutput(
  databaseUrl: string,
  authoritiesFile: string,
): {
  output: Record<string, unknown>;
  secrets: Record<string, string>;
  login: Record<string, string>;
} {
  const { host, port, user, password, database, tls } = databaseAddress(databaseUrl);
  const requireAuth = requireAuthOf(databaseUrl);
  return {
    output: {
      type: 'postgres',
      host,
      port,
      user,
      dbname: database,
      schema: 'staging',
      password: `{{ env_var('${passwordVariable}') }}`,
      application_name: dbtApplication,
      keepalives_idle: 30,
      sslmode: sslModes[tls],
      ...saidOf(databaseUrl, { tls, authoritiesFile }),
    },
    secrets: { [passwordVariable]: password },
    login: requireAuth === undefined ? {} : { [requireAuthVariable]: requireAuth },
  };
}

/** The driver of Node takes `require` for `verify-full`, dbt's does not. Where nothing is said dbt still encrypts if it can. */
const sslModes: Readonly<Record<DatabaseAddress['tls'], string>> = {
  none: 'prefer',
  unproved: 'require',
  authority: 'verify-ca',
  full: 'verify-full',
};

/** Files go by their paths, and that TLS is not wanted is said. */
function saidOf(
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

/** dbt masks variables that begin so wherever it writes. */
const passwordVariable = 'DBT_ENV_SECRET_PASSWORD';
