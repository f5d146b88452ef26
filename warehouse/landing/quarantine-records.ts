import { hash as digestOf } from 'node:crypto';
import type { PoolClient } from 'pg';
import { problemOfNumbers } from '../../resources/huge-number.ts';
import { microsecondsOf } from '../../resources/instant.ts';
import { isTooLong } from '../../resources/longest-id.ts';
import type { Resource } from '../../resources/resource.ts';
import { deletedAtSource } from '../quarantine/deleted-at-source.ts';
import { versionOfEntry } from '../quarantine/version-of-entry.ts';
import type { LandingScope } from '../record-scope.ts';
import type { RefusedRecord } from './prepared-page.ts';

/**
 * Keeps records that cannot land, one open entry each, with the reason and the text, and returns how many. The key of an entry is the record's ID,
 * the digest of an ID that is too long, or without a usable ID the content.
 *
 * Content that a person has discarded does not come back, nor does the text of an entry closed for something better, because the lookback reads it
 * again and again. An entry closed because its record was gone opens again when the record is met, even with the same text.
 *
 * A version that is not newer than the record's erasure never comes back; one that is unknown only if it was requested after the erasure (`askedAt`;
 * unknown for a record that was fetched, or kept here). If a list `mayLag`, no entry that an announced deletion has closed comes back either, nor a
 * version older than the held row, or not newer than an announced deletion. In a reconcile they do, because nothing after it would find the record.
 */
export async function quarantineRecords(
  client: PoolClient,
  input: LandingScope & {
    readonly stream: string;
    readonly mayLag: boolean;
    /** For a page: no part of it was requested before this time, in the order of writes. */
    readonly askedAt?: string | null;
    readonly refused: readonly RefusedRecord[];
  },
): Promise<number> {
  const { mayLag } = input;
  // The payload of an event is not a version of a record.
  const mayBeOutdated = mayLag && input.stream !== 'events';
  const dated = input.refused.map((one) => ({ ...one, version: versionOfEntry(one.text, input.resource) }));
  const refused =
    input.stream === 'events' ? dated : await withoutOutdated(client, { ...input, refused: dated });
  if (refused.length === 0) return 0;
  const { rowCount } = await client.query({
    name: 'quarantine records',
    text: quarantineSql,
    values: [
      input.connectionId,
      input.resource.name,
      input.stream,
      refused.map(({ recordId }) => (recordId === null || isTooLong(recordId) ? null : recordId)),
      refused.map(({ recordId }) => (recordId === null ? null : quarantineKey(recordId))),
      refused.map(({ reason }) => reason),
      refused.map(({ text }) => text),
      input.runId,
      input.landedAt,
      mayLag,
      deletedAtSource,
      // A record with a known version is newer than the announced deletion, or it would have been left out.
      refused.map(({ version }) => mayBeOutdated && version !== undefined),
      refused.map(({ version }) => version ?? null),
      // Postgres would write out the very numbers because of which the record may not land.
      refused.map(({ text }) => problemOfNumbers(text) !== undefined),
    ],
  });
  return rowCount ?? 0;
}

/** A refused record with its version in microseconds; undefined if the version may be what is wrong with it. */
type Dated = RefusedRecord & { readonly version: number | undefined };

async function withoutOutdated(
  client: PoolClient,
  {
    connectionId,
    resource,
    refused,
    mayLag,
    askedAt = null,
  }: {
    connectionId: string;
    resource: Resource;
    refused: readonly Dated[];
    mayLag: boolean;
    askedAt?: string | null;
  },
): Promise<readonly Dated[]> {
  const ids = refused.flatMap(({ recordId }) => recordId ?? []);
  if (ids.length === 0) return refused;
  const { rows } = await client.query<{
    id: string;
    held: string | null;
    deleted: string | null;
    mayBeErased: boolean;
  }>({
    name: `read versions of ${resource.name}`,
    text: `
      with refused as materialized (select $1::text as connection_id, id from unnest($2::text[]) as page (id))
      select refused.id, held.${resource.version}::text as held, t.version::text as deleted,
        coalesce(t.erased and coalesce(t.noted_at >= $4::timestamptz, true), false) as "mayBeErased"
      from refused
      left join finance.${resource.name} held on $3 and held.connection_id = refused.connection_id and held.id = refused.id
      left join sync.tombstones t
        on t.connection_id = refused.connection_id and t.resource = '${resource.name}' and t.record_id = refused.id
        and ($3 and t.source <> 'reconcile' or t.erased)`,
    values: [connectionId, ids, mayLag, askedAt],
  });
  const known = new Map(
    rows.map(({ id, held, deleted, mayBeErased }) => [
      id,
      {
        held: microsecondsOf(held ?? '') ?? -Infinity,
        deleted: microsecondsOf(deleted ?? '') ?? -Infinity,
        mayBeErased,
      },
    ]),
  );
  return refused.filter(({ recordId, version }) => {
    const newest = known.get(recordId ?? '');
    if (newest === undefined) return true;
    if (version === undefined) return !newest.mayBeErased;
    return version >= newest.held && version > newest.deleted;
  });
}

function quarantineKey(id: string): string {
  return isTooLong(id) ? digestOf('sha256', id) : id;
}

/**
 * A record may occur twice in a page, but a statement may touch an entry only once, so the last one counts. A closed entry without an ID keeps
 * nothing away unless a person closed it: a list shows the record again, so it is there again.
 */
const quarantineSql = `
  with hashed as materialized (
    select refused.*, case when as_text then sync.text_hash(payload) else sync.content_hash(payload) end as content
    from unnest($4::text[], $5::text[], $6::text[], $7::text[], $12::boolean[], $13::bigint[], $14::boolean[])
      with ordinality as refused (record_id, key, reason, payload, is_newer, version_us, as_text, place)
  ), refused as materialized (
    select distinct on (coalesce(key, content)) *, coalesce(key, content) as entry_key
    from hashed
    order by coalesce(key, content), place desc
  )
  insert into sync.quarantine
    (connection_id, resource, stream, record_id, entry_key, reason, payload, content, version_us, run_id, first_seen_at,
      last_seen_at)
  select $1, $2, $3, refused.record_id, refused.entry_key, refused.reason, refused.payload, refused.content, refused.version_us,
    $8, $9, $9
  from refused
  where not exists (
    select from sync.quarantine discarded
    where discarded.connection_id = $1 and discarded.resource = $2 and discarded.discarded_content = refused.content
  ) and not exists (
    select from sync.quarantine closed
    where closed.connection_id = $1 and closed.resource = $2 and closed.entry_key = refused.entry_key
      and closed.status = 'discarded' and closed.payload = refused.payload
      and (closed.record_id is not null or closed.stream = 'events')
      and (closed.closed_why is distinct from $11 or $10 and not refused.is_newer and exists (
        select from sync.tombstones t
        where t.connection_id = $1 and t.resource = $2 and t.record_id = closed.record_id and t.source <> 'reconcile'
      ))
  )
  on conflict (connection_id, resource, entry_key) where status = 'open' do update set
    reason = excluded.reason, payload = excluded.payload, content = excluded.content, version_us = excluded.version_us,
    stream = excluded.stream,
    run_id = excluded.run_id, last_seen_at = excluded.last_seen_at`;
