import { sql, type Kysely } from 'kysely';

/** Which streams were read completely in which months: whether what history does not show had not happened, or was not seen. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(streamMonths).execute(db);
}

const streamMonths = `
  create table history.kept_stream_months (
    connection_id text collate "C" not null,
    stream text collate "C" not null,
    month date not null,
    outcome text not null check (outcome in ('complete', 'incomplete')),
    primary key (connection_id, stream, month)
  );
  comment on table history.kept_stream_months is
    'What runs that are no longer kept said in history.stream_months; it stays with the records of a removed connection';
  comment on column history.kept_stream_months.connection_id is 'Connection of the stream';
  comment on column history.kept_stream_months.stream is 'Name of the stream';
  comment on column history.kept_stream_months.month is 'First day of the month, in UTC';
  comment on column history.kept_stream_months.outcome is 'complete or incomplete';

  create view history.stream_months as
    select
      connection_id, stream, month,
      case when bool_or(outcome = 'complete') then 'complete' else 'incomplete' end as outcome
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
  comment on view history.stream_months is
    'In which months a sync or reconcile read a stream, and whether one read it completely; from history.kept_stream_months and the runs that are kept';
  comment on column history.stream_months.connection_id is 'Connection of the stream';
  comment on column history.stream_months.stream is 'Name of the stream';
  comment on column history.stream_months.month is 'First day of the month, in UTC';
  comment on column history.stream_months.outcome is
    'complete: a sync or reconcile that ended in it had read all of the stream; incomplete: none had';
`;
