import type { PoolClient } from 'pg';
import { firstStream, streamsOf } from '../../resources/streams-of.ts';
import { inTransaction } from '../transactions/in-transaction.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { lockResource } from '../passes/lock-pass.ts';
import type { RecordScope } from '../record-scope.ts';
import { endOfSecond } from '../reconcile/confirm-absent.ts';
import { addToRun, type CountsToAdd } from '../runs/add-to-run.ts';
import { applyTombstones } from '../tombstones/apply-tombstones.ts';
import { placesOfContent } from './places-of-content.ts';
import { isSame, readHeld, type HeldRecord } from '../landing/read-held.ts';

export interface RecordNamed extends RecordScope {
  readonly id: string;
}

/** Thrown if the record was written while the source was asked: a recreated record must stay. */
class WrittenMeanwhile extends Error {
  override readonly name = 'WrittenMeanwhile';
  readonly handling = 'stop';

  constructor({ connectionId, resource, id }: RecordNamed) {
    super(
      `${id} of ${resource.name} for ${connectionId} was written while the source was asked whether it is gone, so nothing was erased: ` +
        'run the command again.',
    );
  }
}

/** Number of rows by table. */
export type RowsByTable = Readonly<Record<string, number>>;

/**
 * Removes the content of a record from every table that Daybook loads, in one transaction. It keeps a tombstone even if nothing was held, because a
 * page that shows the record may be on its way. Expects that the source did not return the record at `goneAt`, a time of the service; null if it
 * tells none. `heldBefore` is the row as it was before the source was asked. Returns the number of rows that held content, and counts the deleted
 * ones in the run. Running it again finds none. Throws WrittenMeanwhile.
 */
export async function eraseRecord(
  warehouse: Warehouse,
  {
    runId,
    goneAt,
    heldBefore,
    ...record
  }: RecordNamed & { runId: string; goneAt: Date | null; heldBefore: HeldRecord | null },
): Promise<{ held: RowsByTable; counts: CountsToAdd }> {
  const { connectionId, resource, id } = record;
  return inTransaction(warehouse.pool, async ({ client }) => {
    const { landedAt } = await lockResource(client, { connectionId, resource: resource.name, runId });
    const row = await readHeld(client, record);
    if (row !== null && !isSame(row, heldBefore)) throw new WrittenMeanwhile(record);
    const held = await countContent(client, record);
    const { version, deletedAt } = await readDeletion(client, record, goneAt);
    const deletions = [{ id, version, deletedAt: deletedAt ?? landedAt }];
    const where = { connectionId, resource, runId, landedAt };
    await applyTombstones(client, { ...where, source: 'reconcile', deletions });
    // Content that was held may have been published since the snapshots were searched.
    const isHeld = Object.values(held).some((count) => count > 0);
    await client.query(
      `update sync.tombstones set erased = true, erased_from = case when $4 then '{}' else erased_from end
       where connection_id = $1 and resource = $2 and record_id = $3`,
      [connectionId, resource.name, id, isHeld],
    );
    for (const { erase, values } of await placesOfContent(client, record))
      await client.query(erase, [...values]);
    // A record of which nothing was held is counted as read too.
    const counts = { read: 1, deleted: held[`finance.${resource.name}`] ?? 0 };
    await addToRun(client, { runId, connectionId, stream: firstStream(resource), counts });
    return { held, counts };
  });
}

/** Counts the rows that hold content of a record. */
export async function countContent(
  client: Pick<PoolClient, 'query'>,
  record: RecordNamed,
): Promise<RowsByTable> {
  const counts: Record<string, number> = {};
  for (const { table, where, values } of await placesOfContent(client, record)) {
    const { rows } = await client.query<{ count: number }>(
      `select count(*)::int as count from ${table} where ${where}`,
      [...values],
    );
    counts[table] = rows[0]?.count ?? 0;
  }
  return counts;
}

/**
 * Reads the version and time of the deletion. The version is not older than any that the service can have shown: it is the later of the held version
 * and the end of the second in which the service said that the record is gone. If the service tells no time, nothing bounds the version that a page
 * in flight shows. Then it is the newest version that any list showed, or the time of the database if that is later. If the database's clock is
 * ahead, a record recreated under the same ID waits for the next reconcile, which harms less than personal data that come back. `deletedAt` is known
 * if the record had been deleted before; null: now.
 */
async function readDeletion(
  client: PoolClient,
  { connectionId, resource, id }: RecordNamed,
  goneAt: Date | null,
): Promise<{ version: string; deletedAt: string | null }> {
  const { rows } = await client.query<{ version: string; deletedAt: string | null }>(
    `select
       greatest(held.version, coalesce($3::timestamptz, greatest(clock_timestamp(), (
         select max(highest_seen) from sync.passes where connection_id = $1 and stream = any($4::text[])
       ))))::text as version,
       case when held.id is null then known.deleted_at::text end as "deletedAt"
     from (values ($1, $2)) as record (connection_id, id)
     left join lateral (
       select f.id, f.${resource.version} as version from finance.${resource.name} f
       where f.connection_id = record.connection_id and f.id = record.id
     ) held on true
     left join sync.tombstones known
       on known.connection_id = record.connection_id and known.resource = $5 and known.record_id = record.id`,
    [connectionId, id, endOfSecond(goneAt), streamsOf(resource), resource.name],
  );
  const [found] = rows;
  if (found === undefined) throw new Error(`No deletion of ${id} was read.`);
  return found;
}
