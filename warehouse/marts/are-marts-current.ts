import { sql } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';

/** Whether the marts that every export builds are good, of this day, and show the same as the latest snapshot, with nothing added since. */
export async function areMartsCurrent(
  { db }: Warehouse,
  { asOfDate, snapshotId, takenAt }: { asOfDate: string; snapshotId: string; takenAt: string },
): Promise<boolean> {
  const { rows } = await sql<{ current: number }>`
    select count(*) as current
    from sync.marts m
    join lateral (
      select status from sync.runs
      where connection_id is null and kind = 'marts' and runs.target = m.target
      order by started_at desc, run_id desc limit 1
    ) newest on newest.status = 'succeeded'
    where m.target in ('postgres', 'lake') and m.as_of_date = ${asOfDate}::date
      and case m.target when 'lake' then m.snapshot_id = ${snapshotId} else m.begun_at >= ${takenAt}::timestamptz end
  `.execute(db);
  return rows[0]?.current === 2;
}
