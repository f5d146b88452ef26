import { sql, type Kysely } from 'kysely';

/** Months of which versions were removed that were current at their end: what history does not show of them may have been. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(prunedMonths).execute(db);
}

const prunedMonths = `
  alter table history.kept_stream_months drop constraint kept_stream_months_outcome_check;
  alter table history.kept_stream_months add constraint kept_stream_months_outcome_check
    check (outcome in ('complete', 'incomplete', 'pruned'));
  comment on table history.kept_stream_months is
    'What runs that are no longer kept said in history.stream_months, and what pruning took from history; it stays with the records of a removed connection';
  comment on column history.kept_stream_months.outcome is
    'complete, incomplete, or pruned: history cannot tell this month any more, nor those before it';

  create or replace view history.stream_months as
    select
      connection_id, stream, month,
      case
        when bool_or(outcome = 'pruned') then 'pruned'
        when bool_or(outcome = 'complete') then 'complete'
        else 'incomplete'
      end as outcome
    from (
      select connection_id, stream, month, outcome from history.kept_stream_months
      union all
      select s.connection_id, s.stream, date_trunc('month', at.moment at time zone 'UTC')::date, at.outcome
      from sync.runs r
      join sync.run_streams s using (run_id)
      cross join lateral (
        values
          (s.started_at, 'incomplete'),
          (s.finished_at, case when s.status in ('succeeded', 'partial') then 'complete' else 'incomplete' end)
      ) as at (moment, outcome)
      where r.connection_id is not null and r.kind in ('sync', 'reconcile') and at.moment is not null
    ) as told
    group by connection_id, stream, month;
  comment on column history.stream_months.outcome is
    'complete: a sync or reconcile that ended in it had read all of the stream; incomplete: none had; pruned: history cannot tell this month any more, nor those before it';
`;
