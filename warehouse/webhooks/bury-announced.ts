import { inTransaction } from '../in-transaction.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { lockResource } from '../passes/lock-pass.ts';
import { settleAhead } from '../passes/settle-ahead.ts';
import type { RunScope } from '../record-scope.ts';
import { applyTombstones, type BuriedCounts } from '../tombstones/apply-tombstones.ts';

/**
 * Deletes a record that a webhook says was deleted and that the service no longer has. A row that has become newer than `knownVersion`,
 * the newest known before the service was asked, stays: the record may have been made again.
 */
export async function buryAnnounced(
  warehouse: Warehouse,
  input: RunScope & { id: string; version: string; knownVersion: string | null; deletedAt: string | null },
): Promise<BuriedCounts> {
  const { connectionId, resource, runId, knownVersion, ...deletion } = input;
  return inTransaction(warehouse.pool, async ({ client }) => {
    const { landedAt } = await lockResource(client, { connectionId, resource: resource.name, runId });
    const { rowCount: newer } = await client.query({
      name: `newer than known of ${resource.name}`,
      text: `
        select from finance.${resource.name}
        where connection_id = $1 and id = $2 and ${resource.version} > coalesce($3::timestamptz, '-infinity')`,
      values: [connectionId, deletion.id, knownVersion],
    });
    if (newer !== 0) return { deleted: 0, suppressed: 1, doubted: 0 };
    const where = { connectionId, resource, runId, landedAt };
    const buried = await applyTombstones(client, { ...where, source: 'webhook', deletions: [deletion] });
    if (buried.deleted > 0) await settleAhead(client, where);
    return buried;
  });
}
