import { sql } from 'kysely';

/**
 * Of every connection the newest sync, reconcile and backfill that came to an end of its own; `failure` is null when there
 * is nothing to be said of it. A run that was cancelled or interrupted says nothing about the source.
 */
export const newestRuns = sql`
  select c.connection_id, c.failures, r.kind, r.status, r.finished_at,
    case r.status
      when 'failed' then coalesce(r.failure, 'no reason is known.')
      when 'partial' then (
        select string_agg(distinct s.failure, ' ' order by s.failure)
        from sync.run_streams s
        where s.run_id = r.run_id and s.failure_type not in ('Stalled', 'ApprovalNeeded', 'NotListed')
          and not (s.failure_type = 'NotEqual' and s.quarantined > 0)
      )
    end as failure
  from sync.connections c
  cross join (values ('sync'), ('reconcile'), ('backfill')) as kinds (kind)
  cross join lateral (
    select * from sync.runs
    where coalesce(connection_id, '') = c.connection_id and kind = kinds.kind and finished_at is not null
      and status in ('succeeded', 'partial', 'failed')
    order by finished_at desc, run_id desc
    limit 1
  ) r
  where c.paused_by is distinct from 'daybook'
    and (r.kind <> 'sync' or r.status <> 'failed' or c.failures > 0)`;
