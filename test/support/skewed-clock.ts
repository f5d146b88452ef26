import pg from 'pg';

/** A database URL whose sessions see a wrong clock, which can be set. */
export interface SkewedClock {
  /** The address for sessions that see this clock. */
  readonly url: string;
  /** Sets the clock so far ahead of the real time. Takes an interval in the syntax of Postgres. */
  ahead(interval: string): Promise<void>;
}

/** Makes sessions find `clock_timestamp()` and `now()` in a schema that comes before Postgres's own. */
export async function skewClock(databaseUrl: string): Promise<SkewedClock> {
  await execute(databaseUrl, schemaSql);
  const url = new URL(databaseUrl);
  // A pooler does not accept this setting from a session.
  url.host = process.env.TEST_POSTGRES_HOST ?? url.host;
  url.searchParams.set('options', '-c search_path=skew,pg_catalog,public');
  return {
    url: url.href,
    async ahead(interval) {
      await execute(databaseUrl, 'update skew.clock set ahead = $1', [interval]);
    },
  };
}

const schemaSql = `
  create schema skew;
  create table skew.clock (ahead interval not null);
  insert into skew.clock values ('0');
  create function skew.clock_timestamp() returns timestamptz language sql volatile as
    $$ select pg_catalog.clock_timestamp() + ahead from skew.clock $$;
  create function skew.now() returns timestamptz language sql volatile as
    $$ select pg_catalog.now() + ahead from skew.clock $$`;

async function execute(databaseUrl: string, statement: string, values?: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(statement, values);
  } finally {
    await client.end();
  }
}
