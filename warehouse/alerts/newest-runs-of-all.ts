import { sql } from 'kysely';

/**
 * Of exports, and of the builds of marts on each target, the newest that came to an end of its own. One that was cancelled or
 * interrupted says nothing.
 */
export const newestRunsOfAll = sql`
  select distinct on (kind, target) kind, target, status, finished_at, failure, outcome
  from sync.runs
  where connection_id is null and kind in ('export', 'marts') and finished_at is not null
    and status in ('succeeded', 'failed', 'unsupported')
  order by kind, target, finished_at desc, run_id desc`;
