import { sql, type Kysely } from 'kysely';

/** A list that has stalled was read to its end, and not completely: it did not show what the service is known to have. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(stalledMonths).execute(db);
}

/** What was written down before stays as it is: by then nobody knows which of the runs had stalled. */
const stalledMonths = `
  create or replace view history.stream_months as
    select
      connection_id, stream, month,
      case
        when bool_or(outcome = 'pruned') then 'pruned'
        when bool_or(outcome = 'complete') then 'complete'
        else 'incomplete'
      end as outcome,
      max(complete_until) as complete_until
    from (
      select connection_id, stream, month, outcome, complete_until from history.kept_stream_months
      union all
      select
        s.connection_id, s.stream, date_trunc('month', at.day)::date, at.outcome,
        case when at.outcome = 'complete' then at.day end
      from (
        select run_id from sync.runs
        where connection_id is not null and kind in ('sync', 'reconcile') and finished_at > coalesce((
          select value::timestamptz from sync.settings
          where name = 'stream_months_kept_until' and value::timestamptz <= now()
        ), '-infinity')
        union all
        select run_id from sync.runs
        where connection_id is not null and kind in ('sync', 'reconcile') and finished_at is null
      ) r
      join sync.run_streams s using (run_id)
      cross join lateral (
        values
          ((s.started_at at time zone 'UTC')::date, 'incomplete'),
          (
            (s.finished_at at time zone 'UTC')::date,
            case
              when s.status in ('succeeded', 'partial') and s.failure_type is distinct from 'Stalled' then 'complete'
              else 'incomplete'
            end
          )
      ) as at (day, outcome)
      where at.day is not null
    ) as told
    group by connection_id, stream, month;
`;
