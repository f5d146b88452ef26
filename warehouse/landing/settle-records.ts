import type { PoolClient } from 'pg';
import { microsecondsOf } from '../../resources/instant.ts';
import type { RecordScope } from '../record-scope.ts';
import type { PreparedRecord } from './prepared-page.ts';

/**
 * Closes what a good record settles: its tombstone, the quarantine entry of an earlier bad version and, if it was written, the field issues of the
 * content it replaces. A known record may have a tombstone too, if its row was rebuilt from history. A tombstone that is not older than the record
 * was overruled; this is stored, because its event will come again.
 */
export async function settleRecords(
  client: PoolClient,
  input: RecordScope & {
    landedAt: string;
    written: readonly PreparedRecord[];
    known: readonly PreparedRecord[];
  },
): Promise<void> {
  const { connectionId, resource, landedAt, written, known } = input;
  const good = [...written, ...known];
  if (good.length === 0) return;
  await client.query({
    name: 'settle records',
    text: settleSql,
    values: [
      connectionId,
      resource.name,
      good.map(({ id }) => id),
      good.map(({ version }) => microsecondsOf(version) ?? null),
      landedAt,
      good.map(({ version }) => version),
      written.map(({ id }) => id),
    ],
  });
}

/** Closes entries of versions that are not newer than the good one, and entries of unknown versions. */
const settleSql = `
  with good as materialized (
    select $1::text as connection_id, * from unnest($3::text[], $4::bigint[], $6::timestamptz[]) as page (id, version_us, version)
  ), tombstones as (
    delete from sync.tombstones t using good
    where t.connection_id = good.connection_id and t.resource = $2 and t.record_id = good.id
    returning t.record_id, t.version, t.source, good.version as good_version
  ), overruled as (
    insert into sync.overruled_deletions as known (connection_id, resource, record_id, versions, until)
    select $1, $2, record_id, array[version], version
    from tombstones
    where version >= good_version
      -- A reconcile's is of the end of a second, in which the record may live again, and be deleted once more.
      and (source <> 'reconcile' or version > good_version + interval '1 second')
    on conflict (connection_id, resource, record_id) do update set
      versions = known.versions || excluded.versions, until = greatest(known.until, excluded.until)
  ), issues as (
    delete from sync.field_issues where connection_id = $1 and resource = $2 and record_id = any($7::text[])
  )
  update sync.quarantine q
  set status = 'landed', closed_at = $5, closed_why = 'a good version arrived'
  from good
  where q.connection_id = good.connection_id and q.resource = $2 and q.entry_key = good.id and q.status = 'open'
    and q.record_id is not null
    and (q.version_us is null or q.version_us <= good.version_us)`;
