import type { PoolClient } from 'pg';
import { inTransaction } from '../transactions/in-transaction.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { lockResource } from '../passes/lock-pass.ts';
import { settleAhead } from '../passes/settle-ahead.ts';
import { wantReconcile } from '../reconcile/want-reconcile.ts';
import type { RunScope } from '../record-scope.ts';
import { applyTombstones, type BuriedCounts } from '../tombstones/apply-tombstones.ts';

/**
 * Deletes a record that a webhook says was deleted and that the service no longer has. A row that is newer than `version` stays, because
 * the record was recreated; in the same second, a reconcile is requested. `close` closes the webhook in the
 * same commit.
 */
export async function buryAnnounced(
  warehouse: Warehouse,
  input: RunScope & { id: string; version: string; deletedAt: string | null },
  close: (client: PoolClient, buried: BuriedCounts) => Promise<void> = () => Promise.resolve(),
): Promise<BuriedCounts> {
  const { connectionId, resource, runId, ...deletion } = input;
  return inTransaction(warehouse.pool, async ({ client }) => {
    const { landedAt } = await lockResource(client, { connectionId, resource: resource.name, runId });
    const where = { connectionId, resource, runId, landedAt };
    const buried = await applyTombstones(client, { ...where, source: 'webhook', deletions: [deletion] });
    if (buried.doubted > 0) await wantReconcile(client, { connectionId, resource });
    if (buried.deleted > 0) await settleAhead(client, where);
    await close(client, buried);
    return buried;
  });
}
