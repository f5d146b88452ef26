import { dbtApplication } from '../warehouse/marts/build-lock.ts';

/** The Postgres of a connection string, as dbt's profile wants it. The password goes by the environment alone. */
export function postgresOutput(databaseUrl: string): {
  output: Record<string, unknown>;
  secrets: Record<string, string>;
} {
  const url = new URL(databaseUrl);
  const parameter = (name: string): string | undefined => url.searchParams.get(name) ?? undefined;
  const options = ['sslmode', 'sslcert', 'sslkey', 'sslrootcert'].flatMap((name) => {
    const value = parameter(name);
    return value === undefined ? [] : [[name, value === 'no-verify' ? 'require' : value]];
  });
  return {
    output: {
      type: 'postgres',
      host: parameter('host') ?? url.hostname.replace(/^\[|\]$/g, ''),
      port: Number(url.port || '5432'),
      user: decodeURIComponent(url.username),
      password: `{{ env_var('${passwordVariable}') }}`,
      dbname: decodeURIComponent(url.pathname.slice(1)),
      schema: 'staging',
      application_name: dbtApplication,
      keepalives_idle: 30,
      ...(Object.fromEntries(options) as Record<string, string>),
    },
    secrets: { [passwordVariable]: decodeURIComponent(url.password) },
  };
}

/** dbt masks variables that begin so wherever it writes. */
const passwordVariable = 'DBT_ENV_SECRET_PASSWORD';
