import { libpqAddress } from '../python/libpq-address.ts';
import { dbtApplication } from '../warehouse/marts/build-lock.ts';
import { requireAuthVariable } from '../warehouse/session/require-auth.ts';

/**
 * The Postgres of a connection string, as dbt's profile wants it. The password goes by the environment alone, and so does how to log in, for
 * which a profile has no name. `authoritiesFile` has those that Node trusts.
 */
export function postgresOutput(
  databaseUrl: string,
  authoritiesFile: string,
): {
  output: Record<string, unknown>;
  secrets: Record<string, string>;
  login: Record<string, string>;
} {
  const { host, port, user, password, dbname, requireAuth, tls } = libpqAddress(databaseUrl, authoritiesFile);
  return {
    output: {
      type: 'postgres',
      host,
      port,
      user,
      dbname,
      schema: 'staging',
      password: `{{ env_var('${passwordVariable}') }}`,
      application_name: dbtApplication,
      keepalives_idle: 30,
      ...tls,
    },
    secrets: { [passwordVariable]: password },
    login: requireAuth === undefined ? {} : { [requireAuthVariable]: requireAuth },
  };
}

/** dbt masks variables that begin so wherever it writes. */
const passwordVariable = 'DBT_ENV_SECRET_PASSWORD';
