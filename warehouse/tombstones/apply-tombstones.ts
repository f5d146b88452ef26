import type { PoolClient } from 'pg';
import type { Resource } from '../../resources/resource.ts';
import { microsecondsOf } from '../../resources/instant.ts';
import { raiseVersions } from '../history/move-versions.ts';
import { closeBuried } from '../quarantine/close-buried.ts';
import { removeChildren } from '../landing/remove-children.ts';
import type { LandingScope } from '../record-scope.ts';
import { closeWaitingDeletions } from './close-waiting-deletions.ts';

/** Proof that a record was deleted at the source. */
export interface Deletion {
  readonly id: string;
  /** A time of the service, as written by the API or Postgres: a version that is not newer stays deleted. */
  readonly version: string;
  /** When it was deleted, as far as known; null: at its version. */
  readonly deletedAt: string | null;
}

export interface BuriedCounts {
  /** Records that left `finance`. */
  deleted: number;
  /** Deletions that a newer version of the record beats. */
  suppressed: number;
  /**
   * Deletions that only a reconcile can confirm: an event older than a deletion that proved to be wrong; an event up to a minute older than the row,
   * because the server that touched the row last may have been ahead by that; and a webhook, which has whole seconds, about a record whose version is
   * of that very second.
   */
  doubted: number;
}

/**
 * Deletes records and keeps a tombstone of each, even for unknown records: their list may still be on its way. A row that is newer than the deletion
 * stays; a tie goes to the tombstone. Writes nothing for a deletion that is already known, whether it was true or a reconcile has found the record
 * alive: a fetch or a listing takes precedence over any event.
 *
 * Expects the resource of the connection to be locked.
 */
export async function applyTombstones(
  client: PoolClient,
  input: LandingScope & { source: 'event' | 'webhook' | 'reconcile'; deletions: readonly Deletion[] },
): Promise<BuriedCounts> {
  const { connectionId, resource, runId, landedAt, source, deletions } = input;
  if (deletions.length === 0) return { deleted: 0, suppressed: 0, doubted: 0 };
  const { rows } = await client.query<{ id: string; version: string; outcome: Outcome }>({
    name: `judge deletions of ${resource.name}`,
    text: judgeSql(resource),
    values: [
      connectionId,
      deletions.map(({ id }) => id),
      deletions.map(({ version }) => version),
      source === 'event',
      source !== 'reconcile',
    ],
  });
  const outcomes = new Map(rows.map(({ id, outcome }) => [id, outcome]));
  const ids = (outcome: string): string[] =>
    rows.filter((row) => row.outcome === outcome).map(({ id }) => id);
  const buried = newestOfEach(deletions).filter(({ id }) =>
    ['deleted', 'buried'].includes(outcomes.get(id) ?? ''),
  );
  if (buried.length > 0) {
    await client.query({
      name: 'bury records',
      text: burySql,
      values: [
        connectionId,
        resource.name,
        runId,
        landedAt,
        source,
        buried.map(({ id }) => id),
        buried.map(({ version }) => version),
        buried.map(({ version, deletedAt }) => deletedAt ?? version),
        ids('deleted'),
      ],
    });
    await closeBuried(client, { connectionId, resource, landedAt, source, deletions: buried });
    // A reconcile closes its own deletions.
    if (source !== 'reconcile')
      await closeWaitingDeletions(client, { connectionId, resource, ids: buried.map(({ id }) => id) });
    // If a row was lost, its lines may still be there.
    await removeChildren(client, { connectionId, resource, ids: buried.map(({ id }) => id) });
    await client.query({
      name: `delete ${resource.name}`,
      text: `delete from finance.${resource.name} where connection_id = $1 and id = any($2::text[])`,
      values: [connectionId, ids('deleted')],
    });
  }
  const doubted = ids('doubted');
  if (source === 'event' && doubted.length > 0)
    await client.query({
      name: 'note doubted deletions',
      text: noteDoubtedSql,
      values: [
        connectionId,
        resource.name,
        doubted,
        rows.filter(({ outcome }) => outcome === 'doubted').map(({ version }) => version),
      ],
    });
  await raiseVersions(client, { connectionId, resource, ids: [...ids('suppressed'), ...doubted] });
  const [deleted, suppressed] = [ids('deleted').length, ids('suppressed').length];
  return { deleted, suppressed, doubted: doubted.length };
}

type Outcome = 'deleted' | 'buried' | 'suppressed' | 'known' | 'doubted';

function judgeSql(resource: Resource): string {
  return `
    select arriving.id, arriving.version::text as version, case
      when arriving.version is null then 'known'
      when arriving.version <= arriving.until then 'doubted'
      when $5 and held.version > arriving.version and date_trunc('second', held.version) = arriving.version then 'doubted'
      when $4 and held.version > arriving.version and held.version < arriving.version + interval '1 minute' then 'doubted'
      when held.version > arriving.version then 'suppressed'
      when held.id is not null then 'deleted'
      when tombstone.version >= arriving.version then 'known'
      else 'buried'
    end as outcome
    from (
      select deletion.id, max(deletion.version) filter (where overruled.versions is null or deletion.version <> all (overruled.versions)) as version,
        max(overruled.until) as until
      from unnest($2::text[], $3::timestamptz[]) as deletion (id, version)
      left join lateral (
        select o.versions, o.until
        from sync.overruled_deletions o
        where $4 and o.connection_id = $1 and o.resource = '${resource.name}' and o.record_id = deletion.id
        offset 0
      ) overruled on true
      group by deletion.id
    ) arriving
    left join lateral (
      select f.id, f.${resource.version} as version
      from finance.${resource.name} f
      where f.connection_id = $1 and f.id = arriving.id
      offset 0
    ) held on true
    left join lateral (
      select t.version
      from sync.tombstones t
      where t.connection_id = $1 and t.resource = '${resource.name}' and t.record_id = arriving.id
      offset 0
    ) tombstone on true`;
}

/** Writes the tombstones, ends each record in history, and closes what was open about it. */
const burySql = `
  with buried as materialized (
    select deletion.id, deletion.version, deletion.deleted_at, last.payload,
      last.op = 'upsert' and last.last_synced_at <= deletion.version as lives_in_history
    from unnest($6::text[], $7::timestamptz[], $8::timestamptz[]) as deletion (id, version, deleted_at)
    left join lateral (
      select v.payload, v.op, v.last_synced_at
      from history.record_versions v
      where v.connection_id = $1 and v.resource = $2 and v.record_id = deletion.id
      order by v.recorded_at desc
      limit 1
    ) last on true
  ), ended as (
    insert into history.record_versions
      (connection_id, resource, record_id, recorded_at, last_synced_at, op, payload, run_id)
    select $1, $2, id, $4::timestamptz, version, 'delete', payload, $3
    from buried
    -- A row that was lost leaves its history alive, and a rebuild would bring it back.
    where id = any($9::text[]) or lives_in_history
  ), settled as (
    delete from sync.field_issues
    where connection_id = $1 and resource = $2 and record_id = any($6::text[])
  )
  insert into sync.tombstones
    (connection_id, resource, record_id, version, deleted_at, source, payload, run_id, noted_at)
  select $1, $2, id, version, deleted_at, $5, payload, $3, $4::timestamptz from buried
  on conflict (connection_id, resource, record_id) do update set
    version = excluded.version, deleted_at = excluded.deleted_at,
    -- How the deletion was learned first; one of a record that lived again is another.
    source = case when excluded.record_id = any($9::text[]) then excluded.source else sync.tombstones.source end,
    payload = excluded.payload, run_id = excluded.run_id, noted_at = excluded.noted_at`;

/** Notes doubted deletions, so that the same event is not doubted again once a reconcile has decided. */
const noteDoubtedSql = `
  insert into sync.overruled_deletions as known (connection_id, resource, record_id, versions, until)
  select $1, $2, id, array[version], '-infinity'
  from unnest($3::text[], $4::timestamptz[]) as doubted (id, version)
  on conflict (connection_id, resource, record_id) do update set versions = known.versions || excluded.versions`;

/** Keeps the newest of each record, because a statement may touch a row only once. */
function newestOfEach(deletions: readonly Deletion[]): Deletion[] {
  const newest = new Map<string, Deletion>();
  for (const deletion of deletions) {
    const other = newest.get(deletion.id);
    if (other === undefined || isAfter(deletion.version, other.version)) newest.set(deletion.id, deletion);
  }
  return [...newest.values()];
}

function isAfter(a: string, b: string): boolean {
  return (microsecondsOf(a) ?? -Infinity) > (microsecondsOf(b) ?? -Infinity);
}
