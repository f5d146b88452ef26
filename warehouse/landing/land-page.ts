import type { PoolClient } from 'pg';
import type { Resource } from '../../resources/resource.ts';
import { pinIdentity, type ServiceIdentity } from '../connections/pin-identity.ts';
import { inTransaction } from '../in-transaction.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { completePass } from '../passes/complete-pass.ts';
import { lockPass } from '../passes/lock-pass.ts';
import type { PassInHand } from '../passes/pass.ts';
import { noteAhead } from '../passes/note-ahead.ts';
import { recordPage, type PageFacts } from '../passes/record-page.ts';
import { settleAhead } from '../passes/settle-ahead.ts';
import { noteUnannounced } from '../webhooks/note-unannounced.ts';
import { listRecords } from '../reconcile/list-records.ts';
import { noteDiscrepancies } from '../reconcile/note-discrepancies.ts';
import { bisectRecords, isRefusedData } from './bisect-records.ts';
import { landRecords, type Findings, type LandedCounts } from './land-records.ts';
import type { PreparedPage, PreparedRecord, RefusedRecord } from './prepared-page.ts';
import { quarantineRecords } from './quarantine-records.ts';

export interface PageToLand {
  readonly pass: PassInHand;
  readonly resource: Resource;
  readonly page: PreparedPage;
  /** Null when the response did not say for whom it answers. */
  readonly identity: ServiceIdentity | null;
  readonly requests: number;
  /** Null after the last page: then the pass is completed by the same commit. */
  readonly nextCursor: string | null;
}

/**
 * Lands one page in one transaction: its records, its quarantine, the cursor and the counts, and with the last page the
 * watermark. Killed anywhere, either all of it happened or nothing.
 *
 * Throws LeaseLost, IdentityChanged, IdentityInUse; errors of the database pass through.
 */
export async function landPage(warehouse: Warehouse, input: PageToLand): Promise<PageFacts> {
  try {
    return await inTransaction(warehouse.pool, (client) => land(client, input, landAllAtOnce));
  } catch (error) {
    if (!isRefusedData(error)) throw error;
    return inTransaction(warehouse.pool, (client) => land(client, input, bisectRecords));
  }
}

type Land = (records: readonly PreparedRecord[]) => Promise<LandedCounts>;

type Landing = (
  client: PoolClient,
  records: readonly PreparedRecord[],
  land: Land,
) => Promise<{ counts: LandedCounts; refused: RefusedRecord[] }>;

const landAllAtOnce: Landing = async (_client, records, land) => ({
  counts: await land(records),
  refused: [],
});

async function land(client: PoolClient, input: PageToLand, landing: Landing): Promise<PageFacts> {
  const { pass, resource, page, identity, requests, nextCursor } = input;
  const { landedAt } = await lockPass(client, pass, resource.name);
  if (identity !== null) await pinIdentity(client, { connectionId: pass.connectionId, identity });
  const where = { connectionId: pass.connectionId, resource, runId: pass.runId, landedAt };
  const compare = pass.kind === 'sync' ? 'hashes' : 'columns';
  const facts: string[] = [];
  const landed = await landing(client, page.records, async (records) => {
    const { counts, findings } = await landRecords(client, { ...where, records, compare });
    await noteFindings(client, input, findings);
    facts.push(...findings.facts);
    return counts;
  });
  const refused = [...page.refused, ...landed.refused];
  const quarantined = await quarantineRecords(client, { ...where, stream: pass.stream, refused });
  await noteListing(client, input, { facts, refused });
  const counted: PageFacts = {
    ...landed.counts,
    read: page.read,
    quarantined,
    deleted: 0,
    requests,
    highest: page.highest,
    nextCursor,
  };
  await recordPage(client, pass, counted);
  if (nextCursor === null) await completePass(client, pass, resource);
  // A record that has gone over to this list is what the other one, read before, was found to lack.
  if (nextCursor === null && pass.kind === 'sync' && resource.streams.length > 1)
    await settleAhead(client, where);
  return counted;
}

/** A difference is only a discrepancy where a complete listing found it; a sync may have been ahead of a webhook, or done without. */
async function noteFindings(
  client: PoolClient,
  { pass, resource }: PageToLand,
  findings: Findings,
): Promise<void> {
  if (pass.kind === 'sync') {
    await noteUnannounced(client, { ...pass, resource, changed: [...findings.missing, ...findings.stale] });
  }
  if (pass.kind === 'reconcile') await noteDiscrepancies(client, { pass, resource, findings });
}

async function noteListing(
  client: PoolClient,
  { pass, page }: PageToLand,
  { facts, refused }: { facts: readonly string[]; refused: readonly RefusedRecord[] },
): Promise<void> {
  if (pass.kind === 'sync') return;
  if (page.highest !== null) await noteAhead(client, { ...pass, highest: page.highest });
  if (pass.kind !== 'reconcile') return;
  const refusedIds = refused.flatMap(({ recordId }) => recordId ?? []);
  await listRecords(client, { pass, facts, refusedIds });
}
