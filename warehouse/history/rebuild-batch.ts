import type { PoolClient } from 'pg';
import type { Column, Resource } from '../../resources/resource.ts';
import { firstStream } from '../../resources/streams-of.ts';
import { inTransaction } from '../transactions/in-transaction.ts';
import { columnExpression } from '../landing/column-expression.ts';
import { removeChildren } from '../landing/remove-children.ts';
import { insertChildren } from '../landing/write-records.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { lockResource } from '../passes/lock-pass.ts';
import { addToRun, type CountsToAdd } from '../runs/add-to-run.ts';
import type { RecordScope, RunScope } from '../record-scope.ts';
import { latestVersion } from './latest-version.ts';

/** A batch holds the resource's lock for about a second, for which a sync may wait. */
const recordsPerBatch = 2_000;

export interface RebuiltCounts {
  readonly written: number;
  readonly restored: number;
  readonly removed: number;
}

export interface RebuiltBatch extends RebuiltCounts {
  /** ID of the last record; null if there are no more. */
  last: string | null;
}

/** Rebuilds the rows of the next records after the ID `after`, in one transaction that no landing interrupts, and counts them in the run. */
export async function rebuildBatch(
  warehouse: Warehouse,
  input: RunScope & { after: string },
): Promise<RebuiltBatch> {
  const { connectionId, resource, runId, after } = input;
  const stream = firstStream(resource);
  return inTransaction(warehouse.pool, async ({ client }) => {
    await lockResource(client, { connectionId, resource: resource.name, runId });
    const named = await client.query<{ id: string; alive: boolean }>(namedSql(resource), [
      connectionId,
      after,
      recordsPerBatch,
    ]);
    const ids = named.rows.map(({ id }) => id);
    const alive = named.rows.filter((row) => row.alive).map(({ id }) => id);
    await removeChildren(client, { connectionId, resource, ids });
    const removed = await removeDead(client, { connectionId, resource, ids, alive });
    const { rows } = await client.query<{ restored: boolean }>(writeSql(resource), [connectionId, alive]);
    await removeBeatenTombstones(client, { connectionId, resource, ids: alive });
    const written = rows.length;
    const restored = rows.filter((row) => row.restored).length;
    const counts = { written, restored, removed };
    await addToRun(client, { runId, connectionId, stream, counts: countsOfRebuild(counts) });
    return { ...counts, last: ids.at(-1) ?? null };
  });
}

/** Converts the counts to those of a run. */
export function countsOfRebuild({ written, restored, removed }: RebuiltCounts): CountsToAdd {
  return { read: written, inserted: restored, updated: written - restored, deleted: removed };
}

/** Selects every ID that occurs in history, in the table, or in a list whose record is lost. */
function namedSql({ name, children }: Resource): string {
  const lists = children.map(
    ({ table, parentKey }) => `
      union (
        select distinct ${parentKey} from finance.${table}
        where connection_id = $1 and ${parentKey} > $2
        order by ${parentKey} limit $3
      )`,
  );
  return `
    select named.id, latest.op is not distinct from 'upsert' as alive
    from (
      (
        select distinct record_id as id from history.record_versions
        where connection_id = $1 and resource = '${name}' and record_id > $2
        order by record_id limit $3
      )
      union (
        select id from finance.${name} where connection_id = $1 and id > $2 order by id limit $3
      )${lists.join('')}
      order by id limit $3
    ) named
    left join lateral (${latestVersion(name, 'named.id')}) latest on true
    order by named.id`;
}

async function removeDead(
  client: PoolClient,
  input: RecordScope & { ids: readonly string[]; alive: readonly string[] },
): Promise<number> {
  const { connectionId, resource, ids, alive } = input;
  const { rowCount } = await client.query(
    `delete from finance.${resource.name}
     where connection_id = $1 and id = any($2::text[]) and id <> all ($3::text[])`,
    [connectionId, ids, alive],
  );
  return rowCount ?? 0;
}

/**
 * Writes the rows. An existing row keeps its metadata, and a version that moved on without new content. For a lost row, history knows when it came
 * and which run wrote it; its hash is left empty, so that the next arrival is compared in full.
 */
function writeSql(resource: Resource): string {
  const { name: table, version, columns, children } = resource;
  const names = columns.map(({ name }) => name);
  const kept = `greatest(held.${version}, excluded.${version})`;
  // A corrected clock moves a version back while the content stays the same: see `move-versions.ts`.
  const expression = (column: Column): string =>
    column.name === version ? 'version' : columnExpression(column, 'record');
  return `
    with arriving as materialized (
      select latest.record_id as id, latest.payload as record, latest.last_synced_at as version, latest.recorded_at,
        latest.run_id
      from unnest($2::text[]) as alive (id)
      cross join lateral (${latestVersion(table, 'alive.id')}) latest
    ),
    ${children.map((child) => `${child.table} as (${insertChildren(child)})`).join(',\n    ')}
    insert into finance.${table} as held
      (connection_id, ${names.join(', ')}, _first_seen_at, _run_id, _changed_at, _content_hash)
    select $1, ${columns.map(expression).join(', ')},
      (${firstSeen(table)}), run_id, recorded_at, ''
    from arriving
    on conflict (connection_id, id) do update set
      ${names
        .slice(1)
        .map((name) => `${name} = ${name === version ? kept : `excluded.${name}`}`)
        .join(', ')}
    returning held.xmax = 0 as restored`;
}

/**
 * Removes tombstones that the rows beat. While a row was lost, there was nothing to compare a reread event with, so the event buried a record that
 * had been recreated since. An event that beats a living record ends it in history too.
 */
async function removeBeatenTombstones(
  client: PoolClient,
  { connectionId, resource, ids }: RecordScope & { ids: readonly string[] },
): Promise<void> {
  await client.query(
    `delete from sync.tombstones t using finance.${resource.name} held
     where held.connection_id = $1 and held.id = any($3::text[])
       and t.connection_id = $1 and t.resource = $2 and t.record_id = held.id and t.version < held.${resource.version}`,
    [connectionId, resource.name, ids],
  );
}

/** Returns SQL for the time of the record's first version since its last deletion, as far as history reaches. */
function firstSeen(resource: string): string {
  const versions = `history.record_versions v
        where v.connection_id = $1 and v.resource = '${resource}' and v.record_id = arriving.id`;
  return `
        select min(v.recorded_at) from ${versions} and v.recorded_at > coalesce((
          select max(v.recorded_at) from ${versions} and v.op = 'delete'
        ), '-infinity')`;
}
