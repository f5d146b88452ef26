import pg from 'pg';

/** The one time of a simulation: of this process (the worker and the service) and of Postgres. It moves only when told. */
export interface VirtualClock {
  /** Unix milliseconds. */
  now(): number;
  /** Lets so much time pass at once. */
  pass(milliseconds: number): Promise<void>;
  /** Gives the process its own time back. */
  close(): Promise<void>;
}

/**
 * Takes the time out of the hands of this process and of a database. Sessions must look up functions in `sim` first: see
 * `underVirtualTime`. Postgres adds a microsecond whenever it is asked, so that no two of its times are equal.
 */
export async function startVirtualClock(databaseUrl: string, start: number): Promise<VirtualClock> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(functionsSql);
  await client.query(defaultsSql);
  let now = start;
  await client.query(`select setval('sim.microseconds', $1)`, [now * 1000]);
  const real = Date;
  globalThis.Date = standingStill(real, () => now);
  return {
    now: () => now,
    async pass(milliseconds) {
      now += Math.ceil(milliseconds);
      await client.query(`select setval('sim.microseconds', greatest(nextval('sim.microseconds'), $1))`, [
        now * 1000,
      ]);
    },
    async close() {
      globalThis.Date = real;
      await client.end();
    },
  };
}

/** The address for sessions that are to live in the virtual time of their database. */
export function underVirtualTime(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.searchParams.set('options', '-c search_path=sim,pg_catalog,public');
  return url.href;
}

const functionsSql = `
  create schema if not exists sim;
  create sequence if not exists sim.microseconds;
  create or replace function sim.clock_timestamp() returns timestamptz language sql volatile as
    $$ select to_timestamp(0) + nextval('sim.microseconds') * interval '1 microsecond' $$;
  create or replace function sim.now() returns timestamptz language sql volatile as
    $$ select sim.clock_timestamp() $$`;

/** A column's default was bound to the real clock when the table was made. */
const defaultsSql = `
  do $$
  declare one record;
  begin
    for one in
      select d.adrelid::regclass as relation, a.attname
      from pg_attrdef d
      join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum
      where pg_get_expr(d.adbin, d.adrelid) in ('now()', 'clock_timestamp()')
    loop
      execute format('alter table %s alter column %I set default sim.clock_timestamp()', one.relation, one.attname);
    end loop;
  end $$`;

/** Only what asks for the present time is answered differently. */
function standingStill(real: DateConstructor, now: () => number): DateConstructor {
  return new Proxy(real, {
    construct: (target, given: unknown[]): Date =>
      Reflect.construct(target, given.length === 0 ? [now()] : given) as Date,
    get: (target, name): unknown => (name === 'now' ? now : Reflect.get(target, name)),
  });
}
