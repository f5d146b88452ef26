import type { Pool, PoolClient } from 'pg';
import { rowsPerBatch } from './expired-rows.ts';

/** Key of a version. */
export type Place = readonly [connectionId: string, resource: string, recordId: string, recordedAt: string];

/**
 * Versions that another one had replaced by the cutoff. The one that was current then stays, a deletion too, so
 * `history.as_of` answers as before for every moment since, and the latest version of a record is always there.
 */
const old = `
  from history.record_versions v
  where v.recorded_at < $1::timestamptz
    and exists (
      select from history.record_versions later
      where later.connection_id = v.connection_id and later.resource = v.resource
        and later.record_id = v.record_id
        and later.recorded_at > v.recorded_at and later.recorded_at <= $1::timestamptz
    )`;

export async function countOldVersions(pool: Pool, { cutoff }: { cutoff: string }): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(`select count(*) ${old}`, [cutoff]);
  return rows[0]?.count ?? 0;
}

/** Removes the next batch after a key, so that what stays is looked at once. `last` is undefined when there are no more. */
export async function removeOldVersions(
  client: PoolClient,
  { cutoff, after = ['', '', '', '-infinity'] }: { cutoff: string; after: Place | undefined },
): Promise<{ removed: number; last: Place | undefined }> {
  const { rows } = await client.query<{ place: Place }>(removeOldSql, [cutoff, rowsPerBatch, ...after]);
  return { removed: rows.length, last: rows.at(-1)?.place };
}

export const removeOldSql = `
  with old as materialized (
    select v.connection_id, v.resource, v.record_id, v.recorded_at
    ${old}
      and (v.connection_id, v.resource, v.record_id, v.recorded_at) > ($3, $4, $5, $6::timestamptz)
    order by v.connection_id, v.resource, v.record_id, v.recorded_at
    limit $2
    for update of v skip locked
  ), removed as (
    delete from history.record_versions v
    using old
    where v.connection_id = old.connection_id and v.resource = old.resource and v.record_id = old.record_id
      and v.recorded_at = old.recorded_at
  )
  select json_build_array(connection_id, resource, record_id, recorded_at::text) as place
  from old
  order by connection_id, resource, record_id, recorded_at`;
