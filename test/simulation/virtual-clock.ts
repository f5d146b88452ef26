import { AsyncLocalStorage } from 'node:async_hooks';
import pg from 'pg';

/**
 * The time of a simulation, which moves only when told. It governs this process (Temporal, and the service, which has an error of its own)
 * and Postgres. The clocks of Postgres and of workers can be wrong.
 */
export interface VirtualClock {
  /** Unix milliseconds. */
  now(): number;
  /** Lets so much time pass at once. */
  pass(milliseconds: number): Promise<void>;
  /** Sets the error of Postgres's clock. */
  setDatabaseError(milliseconds: number): Promise<void>;
  /** Does the work with a clock that is wrong by so much, as in one process among others. */
  withClockError<Result>(milliseconds: () => number, work: () => Result): Result;
  /** Restores the process's real time. */
  close(): Promise<void>;
}

/**
 * Puts this process and a database under virtual time. Sessions must look up functions in `sim` first: see `underVirtualTime`. Postgres
 * adds a microsecond at every reading, so that no two of its times are equal.
 */
export async function startVirtualClock(databaseUrl: string, start: number): Promise<VirtualClock> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(functionsSql);
  await client.query(defaultsSql);
  let now = start;
  let databaseError = 0;
  const ownError = new AsyncLocalStorage<() => number>();
  await client.query(`select setval('sim.microseconds', $1)`, [now * 1000]);
  const real = Date;
  globalThis.Date = createVirtualDate(real, () => now + (ownError.getStore()?.() ?? 0));
  return {
    now: () => now,
    async pass(milliseconds) {
      now += Math.ceil(milliseconds);
      await client.query(`select setval('sim.microseconds', greatest(nextval('sim.microseconds'), $1))`, [
        (now + databaseError) * 1000,
      ]);
    },
    async setDatabaseError(milliseconds) {
      databaseError = milliseconds;
      await client.query(`select setval('sim.microseconds', $1)`, [(now + databaseError) * 1000]);
    },
    withClockError: (milliseconds, work) => ownError.run(milliseconds, work),
    async close() {
      globalThis.Date = real;
      await client.end();
    },
  };
}

/** The address for sessions under the virtual time of their database. */
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

/** The default of a column was bound to the real clock when the table was created. */
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

/** Changes only the readings of the present time. */
function createVirtualDate(real: DateConstructor, now: () => number): DateConstructor {
  return new Proxy(real, {
    construct: (target, given: unknown[]): Date =>
      Reflect.construct(target, given.length === 0 ? [now()] : given) as Date,
    get: (target, name): unknown => (name === 'now' ? now : Reflect.get(target, name)),
  });
}
