import { sql } from 'kysely';

/** The newest export, and the newest build of the marts on each target, that ended by itself. Cancelled and interrupted runs say nothing. */
export const newestRunsOfAll = sql`
  select distinct on (kind, target) kind, target, status, finished_at, failure, outcome
  from sync.runs
  where connection_id is null and kind in ('export', 'marts') and finished_at is not null
    and status in ('succeeded', 'failed', 'unsupported')
  order by kind, target, finished_at desc, run_id desc`;
