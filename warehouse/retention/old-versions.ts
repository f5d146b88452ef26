import type { Pool, PoolClient } from 'pg';
import { rowsPerBatch } from '../transactions/rows-per-batch.ts';

/** How far a walk through the versions has come, in the order in which they were recorded. */
export type Place = readonly [recordedAt: string, connectionId: string, resource: string, recordId: string];

/** The start of a walk: the cutoff of the previous one, which left nothing to remove before it. */
export type Beginning = Place[0];

/**
 * A version goes once another one has replaced it by the cutoff. The version that was then current stays, even a deletion, so `history.as_of` answers
 * as before for every moment since, and the latest version of a record is always there. Only versions recorded since the previous walk are read: each
 * replaced its predecessor, and no other.
 */
const replacedBy = `
  cross join lateral (
    select v.recorded_at
    from history.record_versions v
    where v.connection_id = newer.connection_id and v.resource = newer.resource and v.record_id = newer.record_id
      and v.recorded_at < newer.recorded_at
    order by v.recorded_at desc
    limit 1
  ) as replaced`;

/**
 * Returns SQL for the month in which a version counts. Versions of subscriptions count as in the marts of recurring revenue
 * (int_subscription_versions__owned): one recorded after the day until which its month was read completely counts in the next month.
 */
function countedMonth(recordedAt: string): string {
  const month = `date_trunc('month', ${recordedAt} at time zone 'UTC')`;
  return `${month} + case
      when newer.resource = 'subscriptions' and exists (
        select from history.kept_stream_months told
        where told.connection_id = newer.connection_id and told.stream = 'subscriptions'
          and told.month = ${month}::date and told.outcome = 'complete'
          and told.complete_until < (${recordedAt} at time zone 'UTC')::date
      ) then interval '1 month'
      else interval '0'
    end`;
}

/**
 * The current month may be read again, and what replaced a version after its last reading counts in it then. Until that happens, or the month is
 * over, the month depends on the replaced version, which stays.
 */
const staysForNow = `newer.resource = 'subscriptions'
      and ${countedMonth('newer.recorded_at')} > date_trunc('month', now() at time zone 'UTC')`;

/**
 * Reads where a walk begins. If the cutoff lies before the previous one (versions are kept longer now, or the clock was corrected), nothing is known
 * about the versions recorded since, so all are read.
 */
export async function readBeginning(pool: Pool, { cutoff }: { cutoff: string }): Promise<Beginning> {
  const { rows } = await pool.query<{ value: string }>(
    `select value from sync.settings where name = $1 and value::timestamptz <= $2::timestamptz`,
    [setting, cutoff],
  );
  return rows[0]?.value ?? '-infinity';
}

/** Notes that a walk has removed everything up to its cutoff, or up to the first version whose predecessor stays for now. */
export async function noteWalk(
  client: PoolClient,
  { cutoff, staying }: { cutoff: string; staying: string | null },
): Promise<void> {
  await client.query(
    `insert into sync.settings (name, value) values ($1, $2)
     on conflict (name) do update set value = excluded.value`,
    [setting, staying ?? cutoff],
  );
}

const setting = 'history_pruned_until';

/**
 * Earlier releases did not note what they removed. The first walk therefore marks the months before its cutoff as lost, for every connection that has
 * versions of subscriptions from then; later walks note what they remove.
 */
export async function noteMonthsBeforeFirstWalk(
  client: PoolClient,
  { cutoff }: { cutoff: string },
): Promise<void> {
  await client.query(
    `insert into history.kept_stream_months as kept (connection_id, stream, month, outcome)
     select known.connection_id, 'subscriptions', (cutoff.month - interval '1 month')::date, 'pruned'
     from (select date_trunc('month', $2::timestamptz at time zone 'UTC') as month) as cutoff
     cross join (
       select connection_id from sync.connections
       union
       select connection_id from history.kept_stream_months
     ) as known
     where not exists (select from sync.settings where name = $1)
       and exists (
         select from history.record_versions v
         where v.connection_id = known.connection_id and v.resource = 'subscriptions'
           and v.recorded_at < cutoff.month at time zone 'UTC'
       )
     on conflict (connection_id, stream, month) do update set outcome = excluded.outcome`,
    [setting, cutoff],
  );
}

export async function countOldVersions(
  pool: Pool,
  { cutoff, beginning }: { cutoff: string; beginning: Beginning },
): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `select count(*) from history.record_versions newer ${replacedBy}
     where newer.recorded_at >= $2::timestamptz and newer.recorded_at <= $1::timestamptz and not (${staysForNow})`,
    [cutoff, beginning],
  );
  return rows[0]?.count ?? 0;
}

export interface RemovedVersions {
  readonly removed: number;
  /** Place of the last version read; null if there are no more. */
  readonly last: Place | null;
  /** Rows that another prune removes, or was about to. */
  readonly skipped: number;
  /** When the first version was recorded whose predecessor stays for now; null: there is none. */
  readonly staying: string | null;
}

/**
 * Removes what the next batch of versions after a place has replaced. For subscriptions it notes the last month at whose end a removed version was
 * current: neither that month nor earlier ones can be reported any more. If no removed version was current at a month's end, it notes a month before
 * all others: every month can be reported, but not who paid before.
 */
export async function removeOldVersions(
  client: PoolClient,
  { cutoff, after }: { cutoff: string; after: Place },
): Promise<RemovedVersions> {
  const { rows } = await client.query<RemovedVersions>(removeOldSql, [cutoff, rowsPerBatch, ...after]);
  return rows[0] ?? { removed: 0, last: null, skipped: 0, staying: null };
}

export const removeOldSql = `
  with newer as materialized (
    select connection_id, resource, record_id, recorded_at
    from history.record_versions
    where recorded_at <= $1::timestamptz
      and (recorded_at, connection_id, resource, record_id) > ($3::timestamptz, $4, $5, $6)
    order by recorded_at, connection_id, resource, record_id
    limit $2
  ), found as materialized (
    select newer.connection_id, newer.resource, newer.record_id, replaced.recorded_at, newer.recorded_at as replaced_at,
      ${countedMonth('replaced.recorded_at')} as first_month,
      ${countedMonth('newer.recorded_at')} - interval '1 month' as last_month,
      ${staysForNow} as stays
    from newer ${replacedBy}
  ), old as materialized (
    select * from found where not stays
  ), locked as materialized (
    select v.connection_id, v.resource, v.record_id, v.recorded_at
    from old
    join history.record_versions v using (connection_id, resource, record_id, recorded_at)
    for update of v skip locked
  ), lost as (
    insert into history.kept_stream_months as kept (connection_id, stream, month, outcome)
    select connection_id, resource,
      max(case when last_month >= first_month then last_month else timestamp '1900-01-01' end)::date, 'pruned'
    from old
    where resource = 'subscriptions'
    group by connection_id, resource
    having bool_or(last_month >= first_month) or not exists (
      select from history.kept_stream_months noted
      where noted.connection_id = old.connection_id and noted.stream = 'subscriptions' and noted.outcome = 'pruned'
    )
    on conflict (connection_id, stream, month) do update set outcome = excluded.outcome
  ), removed as (
    delete from history.record_versions v
    using locked
    where v.connection_id = locked.connection_id and v.resource = locked.resource and v.record_id = locked.record_id
      and v.recorded_at = locked.recorded_at
    returning 1
  )
  select (select count(*) from removed) as removed,
    (select count(*) from old) - (select count(*) from removed) as skipped,
    (select min(replaced_at)::text from found where stays) as staying,
    (
      select json_build_array(recorded_at::text, connection_id, resource, record_id)
      from newer
      order by recorded_at desc, connection_id desc, resource desc, record_id desc
      limit 1
    ) as last`;
