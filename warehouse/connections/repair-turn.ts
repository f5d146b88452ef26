import { sql } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';

/** The right to repair schedules, held by one process at a time. */
export interface RepairTurn {
  /** Call this more often than every 30 s. False: the lease has expired, and another process may hold the turn. */
  extend(): Promise<boolean>;
  /** `done`: everything was checked, and no repair is needed for a while. Otherwise the previous repair no longer counts. */
  end(outcome: { done: boolean }): Promise<void>;
}

/**
 * Takes the turn. `held`: another process has it. `done`: a repair that began at `since` or later is complete. The turn is a lease of 30 s, after
 * which others may take it. Times further in the future were written while the clock was wrong, and are ignored.
 */
export async function takeRepairTurn(
  { db }: Warehouse,
  { since }: { since: Date },
): Promise<RepairTurn | 'held' | 'done'> {
  const { rows } = await sql<{ token: string | null; began: string; done: boolean }>`
    with done as (
      select from sync.settings
      where name = 'schedules_repaired_at' and value::timestamptz between ${since} and clock_timestamp()
    ), taken as (
      insert into sync.settings (name, value)
      select 'schedules_repair_until', ${heldUntil} where not exists (select from done)
      on conflict (name) do update set value = excluded.value
      where settings.value::timestamptz not between clock_timestamp() and clock_timestamp() + interval '30 seconds'
      returning value
    )
    select (select value from taken) as token, clock_timestamp()::text as began, exists (select from done) as done
  `.execute(db);
  const [{ token, began, done } = { token: null, began: '', done: false }] = rows;
  if (done) return 'done';
  if (token === null) return 'held';
  let held = token;
  return {
    async extend() {
      const { rows: extended } = await sql<{ value: string }>`
        update sync.settings set value = ${heldUntil} where name = 'schedules_repair_until' and value = ${held}
        returning value
      `.execute(db);
      held = extended[0]?.value ?? held;
      return extended.length > 0;
    },
    async end({ done: isDone }) {
      await sql`
        with ended as (
          update sync.settings set value = '-infinity' where name = 'schedules_repair_until' and value = ${held}
          returning name
        )
        insert into sync.settings (name, value)
        select 'schedules_repaired_at', ${isDone ? began : '-infinity'} from ended
        on conflict (name) do update set value = excluded.value
      `.execute(db);
    },
  };
}

const heldUntil = sql<string>`(clock_timestamp() + interval '30 seconds')::text`;
