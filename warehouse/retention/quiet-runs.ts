import type { Pool, PoolClient } from 'pg';
import { rowsPerBatch } from '../transactions/rows-per-batch.ts';
import { isNotNewest } from './expired-rows.ts';

/** How far a walk through the runs has come, in the order in which they ended. */
export type RunPlace = readonly [finishedAt: string, runId: string];

/** A stream s of a sync for which everything that was read was known. */
const foundNothing = 's.inserted + s.updated + s.deleted + s.suppressed + s.quarantined + s.unannounced = 0';

/**
 * Syncs that succeeded. Their streams that found nothing are counted in `sync.quiet_days` and deleted; a sync that is left with none is quiet, and
 * deleted too. The newest finished sync of a connection stays whole, however old, and so does what answers a failure.
 */
const succeeded = `
  r.kind = 'sync' and r.status = 'succeeded' and r.failure is null and r.outcome is null and r.connection_id is not null
  and exists (select from sync.run_streams s where s.run_id = r.run_id)
  and not exists (
    select from sync.run_streams s
    where s.run_id = r.run_id
      and (s.failure_type is not null or s.totals is not null or s.status not in ('succeeded', 'unsupported'))
  )
  and ${isNotNewest}`;

/** A later sync of the stream says as much, or there is no earlier failure that the stream could answer (`newest-failures.ts`). */
const isNoAnswer = `(
    not exists (
      select from sync.runs bad
      where bad.connection_id = r.connection_id and bad.kind = 'sync' and bad.status in ('failed', 'partial')
        and bad.started_at < r.started_at
    )
    or exists (
      select from sync.runs later
      join sync.run_streams l on l.run_id = later.run_id and l.stream = s.stream
      where later.connection_id = r.connection_id and later.kind = 'sync' and later.started_at > r.started_at
        and later.status in ('succeeded', 'partial', 'failed') and l.status not in ('running', 'cancelled', 'interrupted')
    )
  )`;

/** Condition on a stream s of a run r. */
const isFolded = `${foundNothing} and ${isNoAnswer}`;

const isQuiet = `not exists (select from sync.run_streams s where s.run_id = r.run_id and not (${isFolded}))`;

/** Reads where a walk begins: only runs that ended since the cutoff of the previous walk are read, unless that cutoff lies later than this one. */
export async function readQuietBeginning(pool: Pool, { cutoff }: { cutoff: string }): Promise<string> {
  const { rows } = await pool.query<{ value: string }>(
    `select value from sync.settings where name = $1 and value::timestamptz <= $2::timestamptz`,
    [setting, cutoff],
  );
  return rows[0]?.value ?? '-infinity';
}

export async function noteQuietWalk(client: PoolClient, { cutoff }: { cutoff: string }): Promise<void> {
  await client.query(
    `insert into sync.settings (name, value) values ($1, $2)
     on conflict (name) do update set value = excluded.value`,
    [setting, cutoff],
  );
}

/** Deletes days before the cutoff of runs. */
export async function forgetQuietDays(pool: Pool, { cutoff }: { cutoff: string }): Promise<void> {
  await pool.query('delete from sync.quiet_days where day < ($1::timestamptz)::date', [cutoff]);
}

const setting = 'quiet_runs_folded_until';

/** Counts the rows that would go, by table. */
export async function countQuiet(
  pool: Pool,
  { cutoff, beginning }: { cutoff: string; beginning: string },
): Promise<Record<string, number>> {
  const { rows } = await pool.query<Record<string, number>>(
    `with looked as materialized (
       select r.run_id, r.connection_id, r.started_at, ${isQuiet} as is_quiet from sync.runs r
       where r.finished_at <= $1::timestamptz and r.finished_at > $2::timestamptz and ${succeeded}
     )
     select (select count(*) from looked where is_quiet) as "sync.runs",
       (
         select count(*) from sync.run_streams s join looked r using (run_id) where ${isFolded}
       ) as "sync.run_streams"`,
    [cutoff, beginning],
  );
  return rows[0] ?? {};
}

export interface QuietBatch {
  readonly runs: number;
  readonly streams: number;
  /** Place of the last run read; null if there are no more. */
  readonly last: RunPlace | null;
}

/**
 * Folds the streams that found nothing in the next batch of runs. A run that another prune holds is left to that prune, or stays as long as other
 * runs do.
 */
export async function foldQuiet(
  client: PoolClient,
  { cutoff, after }: { cutoff: string; after: RunPlace },
): Promise<QuietBatch> {
  const { rows } = await client.query<QuietBatch>(foldQuietSql, [cutoff, rowsPerBatch / 5, ...after]);
  return rows[0] ?? { runs: 0, streams: 0, last: null };
}

export const foldQuietSql = `
  with looked as materialized (
    select run_id, finished_at from sync.runs
    where finished_at <= $1::timestamptz and (finished_at, run_id) > ($3::timestamptz, $4)
    order by finished_at, run_id
    limit $2
  ), held as materialized (
    select r.run_id, r.connection_id, r.started_at, (r.started_at at time zone 'UTC')::date as day, ${isQuiet} as is_quiet
    from looked
    join sync.runs r using (run_id)
    where ${succeeded}
    for update of r skip locked
  ), streams as (
    delete from sync.run_streams s using held r where s.run_id = r.run_id and ${isFolded}
    returning s.run_id, s.requests, s.read
  ), gone as (
    delete from sync.runs where run_id = any(array(select run_id from held where is_quiet)) returning 1
  ), folded as (
    insert into sync.quiet_days as had (connection_id, day, syncs, requests, read)
    select connection_id, day, count(distinct run_id) filter (where is_quiet), sum(requests), sum(read)
    from held
    join streams using (run_id)
    group by connection_id, day
    order by connection_id, day
    on conflict (connection_id, day) do update set
      syncs = had.syncs + excluded.syncs, requests = had.requests + excluded.requests, read = had.read + excluded.read
  )
  select (select count(*) from gone) as runs, (select count(*) from streams) as streams,
    (
      select json_build_array(finished_at::text, run_id) from looked order by finished_at desc, run_id desc limit 1
    ) as last`;
