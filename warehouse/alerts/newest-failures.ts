import { sql, type RawBuilder } from 'kysely';

/** How many of the newest failed or partial runs are read. */
const lookedAt = sql.lit(8);

type Kind = 'sync' | 'reconcile' | 'backfill';

/**
 * The newest sync, reconcile and backfill of every connection with a failure that no later run has answered. A run of one resource says nothing about
 * the others, and a cancelled or interrupted run says nothing about the source. Runs are ordered by their start, an order that no change of the
 * database's clock affects.
 */
export const newestFailures = sql.join(
  (['sync', 'reconcile', 'backfill'] satisfies Kind[]).map(selectNewestFailure),
  sql` union all `,
);

/** The kind is a literal, so that the planner can use the partial indexes. */
function selectNewestFailure(kind: Kind): RawBuilder<unknown> {
  const ofKind = sql.raw(`kind = '${kind}'`);
  return sql`
    select c.connection_id, c.failures, r.kind, r.status, r.finished_at, r.failure
    from sync.connections c
    cross join lateral (
      select bad.kind, bad.status, bad.finished_at,
        case bad.status when 'failed' then coalesce(bad.failure, 'no reason is known.') else open.failure end as failure
      from (
        select * from sync.runs
        where connection_id = c.connection_id and ${ofKind} and status in ('failed', 'partial') and finished_at is not null
        order by started_at desc
        limit ${lookedAt}
      ) bad
      cross join lateral (
        select count(*) filter (where s.status = 'failed' and not answered.is) as failed,
          count(*) filter (where s.status = 'failed') as all_failed,
          string_agg(distinct s.failure, ' ' order by s.failure) filter (
            where not answered.is and s.failure_type not in ('Stalled', 'ApprovalNeeded', 'NotListed')
              and not (s.failure_type = 'NotEqual' and s.quarantined > 0)
          ) as failure
        from sync.run_streams s
        cross join lateral (
          select exists (
            select from (${laterRuns(ofKind)}) later
            join sync.run_streams l on l.run_id = later.run_id and l.stream = s.stream
            where l.status not in ('running', 'cancelled', 'interrupted')
          ) as is
        ) answered
        where s.run_id = bad.run_id and (s.status = 'failed' or s.failure_type is not null)
      ) open
      where case
        when bad.status = 'partial' then open.failure is not null
        when open.all_failed > 0 then open.failed > 0
        else not exists (${laterRuns(ofKind)})
      end
      order by bad.started_at desc
      limit 1
    ) r
    where c.paused_by is distinct from 'daybook' and (r.kind <> 'sync' or r.status <> 'failed' or c.failures > 0)`;
}

function laterRuns(ofKind: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select run_id from sync.runs
    where connection_id = c.connection_id and ${ofKind} and started_at > bad.started_at
      and status in ('succeeded', 'partial', 'failed')`;
}
