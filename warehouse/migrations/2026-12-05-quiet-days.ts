import { sql, type Kysely } from 'kysely';

/** What is left of syncs that found nothing, and months of streams that are known without a look at every run. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(quietDays).execute(db);
  await sql.raw(streamMonths).execute(db);
}

const quietDays = `
  create table sync.quiet_days (
    connection_id text collate "C" not null references sync.all_connections on delete cascade,
    day date not null,
    syncs bigint not null,
    requests bigint not null,
    read bigint not null,
    primary key (connection_id, day)
  );
  comment on table sync.quiet_days is
    'Streams that found nothing new in syncs that succeeded, and syncs of which none found anything: no longer kept, DAYBOOK_KEEP_QUIET_RUNS';
  comment on column sync.quiet_days.connection_id is 'Connection of the syncs';
  comment on column sync.quiet_days.day is 'Day on which the syncs began, in UTC';
  comment on column sync.quiet_days.syncs is 'How many syncs there were of which no stream found anything';
  comment on column sync.quiet_days.requests is 'Requests of the streams to the API, failed ones included';
  comment on column sync.quiet_days.read is 'Records of the streams that were read, all of them known';
`;

/**
 * Runs that ended before stream_months_kept_until stand in kept_stream_months. A time of the future was written while the clock was
 * wrong: then all are looked at.
 */
const streamMonths = `
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
          (s.started_at, 'incomplete'),
          (s.finished_at, case when s.status in ('succeeded', 'partial') then 'complete' else 'incomplete' end)
      ) as at (moment, outcome)
      where at.moment is not null
    ) as told
    group by connection_id, stream, month;
  comment on view history.stream_months is
    'In which months a sync or reconcile read a stream, and whether one read it completely; from history.kept_stream_months and the runs that ended since it was written';
`;
