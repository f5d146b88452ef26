import pg from 'pg';

/** Sessions of a database whose clock is wrong, and may be set. */
export interface SkewedClock {
  /** The address for sessions that live by it. */
  readonly url: string;
  /** Sets it so far ahead of the time of everybody else; an interval as Postgres reads it. */
  ahead(interval: string): Promise<void>;
}

/** Such sessions find `clock_timestamp()` and `now()` in a schema that comes before Postgres's own. */
export async function skewClock(databaseUrl: string): Promise<SkewedClock> {
  await execute(databaseUrl, schemaSql);
  const url = new URL(databaseUrl);
  // A pooler takes no such setting from a session.
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
