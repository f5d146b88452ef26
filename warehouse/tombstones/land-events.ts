import { eventsStream, resources } from '../../resources/index.ts';
import { inTransaction } from '../transactions/in-transaction.ts';
import { quarantineRecords } from '../landing/quarantine-records.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { completePass } from '../passes/complete-pass.ts';
import { lockResource, lockToLand } from '../passes/lock-pass.ts';
import type { Listed, PassInHand } from '../passes/pass.ts';
import { recordPage, type PageFacts } from '../passes/record-page.ts';
import { settleAhead } from '../passes/settle-ahead.ts';
import { wantReconcile } from '../reconcile/want-reconcile.ts';
import { applyTombstones } from './apply-tombstones.ts';
import type { PreparedEvents } from './prepared-events.ts';

/** The one stream that brings no records. */
export const eventsListed: Listed = { name: eventsStream, version: null };

/**
 * Lands a page of deletion events in one transaction with its cursor. An event that does not say which record is gone goes to quarantine, and its
 * resource is marked for a reconcile, which will find out.
 *
 * Throws LeaseLost, TokenNotProved; errors of the database pass through.
 */
export async function landEvents(
  warehouse: Warehouse,
  input: {
    pass: PassInHand;
    page: PreparedEvents;
    /** The cursor with which the page was requested; null: the first one. */
    cursor: string | null;
    requests: number;
    /** The service's time of the response; null if it tells none. */
    servedAt: Date | null;
    /** When the response came, by the clock of the database, estimated on the early side; null: just now. */
    heardAt: Date | null;
    nextCursor: string | null;
  },
): Promise<PageFacts> {
  const { pass, page, cursor, requests, servedAt, heardAt, nextCursor } = input;
  return inTransaction(warehouse.pool, async ({ client }) => {
    await lockToLand(client, { pass, resource: eventsListed.name, cursor });
    const facts: PageFacts = {
      read: page.read,
      inserted: 0,
      updated: 0,
      deleted: 0,
      suppressed: 0,
      quarantined: 0,
      unchanged: 0,
      requests,
      servedAt,
      heardAt,
      highest: page.highest,
      order: { ascends: true, lowest: null },
      nextCursor,
    };
    // Resources are locked in one order everywhere: the landing of a page holds one such lock, and this function several.
    for (const resource of resources.filter((one) => page.deletions.has(one) || page.refused.has(one))) {
      const { connectionId, runId } = pass;
      const { landedAt } = await lockResource(client, { connectionId, resource: resource.name, runId });
      const where = { connectionId, resource, runId, landedAt };
      const deletions = page.deletions.get(resource) ?? [];
      const buried = await applyTombstones(client, { ...where, source: 'event', deletions });
      if (buried.deleted > 0) await settleAhead(client, where);
      facts.deleted += buried.deleted;
      facts.suppressed += buried.suppressed + buried.doubted;
      const refused = page.refused.get(resource) ?? [];
      const quarantined = await quarantineRecords(client, {
        ...where,
        stream: pass.stream,
        mayLag: true,
        refused,
      });
      facts.quarantined += quarantined;
      if (quarantined > 0 || buried.doubted > 0) await wantReconcile(client, { connectionId, resource });
    }
    facts.unchanged = facts.read - facts.deleted - facts.suppressed - facts.quarantined;
    await recordPage(client, pass, facts);
    if (nextCursor === null) await completePass(client, pass, eventsListed);
    return facts;
  });
}
