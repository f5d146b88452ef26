import { libpqAddress } from '../python/libpq-address.ts';
import { dbtApplication } from '../warehouse/marts/build-lock.ts';
import { requireAuthVariable } from '../warehouse/session/require-auth.ts';

/**
 * Converts a Postgres connection string to dbt's profile. The password is passed by the environment alone, and so are the login settings that a
 * profile cannot express. `authoritiesFile` holds the authorities that Node trusts.
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

/** dbt masks variables with this prefix in all its output. */
const passwordVariable = 'DBT_ENV_SECRET_PASSWORD';
