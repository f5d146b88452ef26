import type { PoolClient } from 'pg';
import { inTransaction } from '../in-transaction.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { lockResource } from '../passes/lock-pass.ts';
import type { RecordScope } from '../record-scope.ts';
import { applyTombstones } from '../tombstones/apply-tombstones.ts';
import { placesOfContent } from './places-of-content.ts';

export interface RecordNamed extends RecordScope {
  readonly id: string;
}

/** Rows by table. */
export type RowsByTable = Readonly<Record<string, number>>;

/**
 * Removes the content of a record from every table that Daybook loads, in one transaction, and keeps its tombstone. Expects
 * that the source no longer returns it. Returns the rows that held some; done again it finds none.
 */
export async function eraseRecord(
  warehouse: Warehouse,
  { runId, ...record }: RecordNamed & { runId: string },
): Promise<RowsByTable> {
  const { connectionId, resource, id } = record;
  return inTransaction(warehouse.pool, async (client) => {
    const { landedAt } = await lockResource(client, { connectionId, resource: resource.name });
    const held = await countContent(client, record);
    const version = await heldVersion(client, record);
    if (version !== undefined) {
      const deletions = [{ id, version, deletedAt: landedAt }];
      const where = { connectionId, resource, runId, landedAt };
      await applyTombstones(client, { ...where, source: 'reconcile', deletions });
    }
    for (const { erase } of placesOfContent(resource)) await client.query(erase, [connectionId, id]);
    return held;
  });
}

/** How many rows hold content of a record. */
export async function countContent(
  client: Pick<PoolClient, 'query'>,
  { connectionId, resource, id }: RecordNamed,
): Promise<RowsByTable> {
  const counts: Record<string, number> = {};
  for (const { table, where } of placesOfContent(resource)) {
    const { rows } = await client.query<{ count: number }>(
      `select count(*)::int as count from ${table} where ${where}`,
      [connectionId, id],
    );
    counts[table] = rows[0]?.count ?? 0;
  }
  return counts;
}

async function heldVersion(
  client: PoolClient,
  { connectionId, resource, id }: RecordNamed,
): Promise<string | undefined> {
  const { rows } = await client.query<{ version: string }>(
    `select coalesce(${resource.version}, 'epoch')::text as version from finance.${resource.name} where connection_id = $1 and id = $2`,
    [connectionId, id],
  );
  return rows[0]?.version;
}
