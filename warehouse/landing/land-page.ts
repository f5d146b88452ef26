import type { PoolClient } from 'pg';
import { codeOf } from '../../errors/code-of.ts';
import type { Resource } from '../../resources/resource.ts';
import { inTransaction } from '../transactions/in-transaction.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { completePass } from '../passes/complete-pass.ts';
import { lockToLand } from '../passes/lock-pass.ts';
import type { PassInHand } from '../passes/pass.ts';
import { noteAhead } from '../passes/note-ahead.ts';
import { recordPage, type PageFacts } from '../passes/record-page.ts';
import { settleAhead, settleRefused } from '../passes/settle-ahead.ts';
import { noteUnannounced } from '../webhooks/note-unannounced.ts';
import { closeShownTwice, findAhead, readShownTwice } from '../reconcile/find-ahead.ts';
import { heldByDigits } from '../reconcile/held-by-digits.ts';
import { listRefused } from '../reconcile/list-records.ts';
import { noteDiscrepancies } from '../reconcile/note-discrepancies.ts';
import { noteMet } from '../reconcile/note-met.ts';
import { wantReconcile } from '../reconcile/want-reconcile.ts';
import { bisectRecords, isRefusedData } from './bisect-records.ts';
import { landRecords, nothingLanded, type Findings, type LandedCounts } from './land-records.ts';
import type { PreparedPage, PreparedRecord, RefusedRecord } from './prepared-page.ts';
import { quarantineRecords } from './quarantine-records.ts';
import { removeChildren } from './remove-children.ts';

export interface PageToLand {
  readonly pass: PassInHand;
  readonly resource: Resource;
  readonly page: PreparedPage;
  /** The cursor with which the page was requested; null: the first one. */
  readonly cursor: string | null;
  readonly requests: number;
  /** The service's time of the response; null if it tells none. */
  readonly servedAt: Date | null;
  /** When the response came, by the clock of the database, estimated on the early side; null: just now. */
  readonly heardAt: Date | null;
  /** How long a list may lag. */
  readonly lookbackMilliseconds: number;
  /** Null after the last page: the same commit then completes the pass. */
  readonly nextCursor: string | null;
}

/**
 * Lands one page in one transaction: its records, its quarantine, the cursor and the counts, and with the last page the watermark. After a crash,
 * either all of it is committed or nothing.
 *
 * Throws LeaseLost, TokenNotProved; errors of the database pass through.
 */
export async function landPage(warehouse: Warehouse, input: PageToLand): Promise<PageFacts> {
  try {
    return await inTransaction(warehouse.pool, ({ client }) => land(client, input, allAtOnce));
  } catch (error) {
    if (!isRefusedData(error) && codeOf(error) !== uniqueViolation) throw error;
  }
  try {
    return await inTransaction(warehouse.pool, ({ client }) => land(client, input, bisectRecords));
  } catch (error) {
    if (codeOf(error) !== uniqueViolation) throw error;
  }
  return inTransaction(warehouse.pool, async ({ client }) => {
    // Locked first: a record without a row may be one that another run is landing.
    await lockToLand(client, { pass: input.pass, resource: input.resource.name, cursor: input.cursor });
    await removeOrphans(client, input);
    return land(client, input, bisectRecords);
  });
}

const uniqueViolation = '23505';

/** Removes lines that conflict with new ones: somebody deleted their records' rows and left them. */
async function removeOrphans(client: PoolClient, { pass, resource, page }: PageToLand): Promise<void> {
  const { connectionId } = pass;
  const ids = page.records.map(({ id }) => id);
  const { rows } = await client.query<{ id: string }>(
    `with record as materialized (select $1::text as connection_id, id from unnest($2::text[]) as page (id))
     select id from record
     where not exists (
       select from finance.${resource.name} f where f.connection_id = record.connection_id and f.id = record.id
     )`,
    [connectionId, ids],
  );
  await removeChildren(client, { connectionId, resource, ids: rows.map(({ id }) => id) });
}

/** How the records of a page are given to `write`: all at once, or by bisection, which finds those that Postgres refuses. */
type Division = (
  client: PoolClient,
  records: readonly PreparedRecord[],
  write: (records: readonly PreparedRecord[]) => Promise<LandedCounts>,
) => Promise<{ counts: LandedCounts; refused: RefusedRecord[] }>;

const allAtOnce: Division = async (_client, records, write) => ({
  counts: await write(records),
  refused: [],
});

async function land(client: PoolClient, input: PageToLand, divide: Division): Promise<PageFacts> {
  const { pass, resource, page, cursor, requests, servedAt, heardAt, nextCursor } = input;
  const { landedAt, askedAt } = await lockToLand(client, { pass, resource: resource.name, cursor });
  const where = { connectionId: pass.connectionId, resource, runId: pass.runId, landedAt };
  const compare = pass.kind === 'sync' ? 'hashes' : 'columns';
  const listedBy = pass.kind === 'reconcile' ? pass : undefined;
  const landed = await divide(client, page.records, async (records) => {
    if (records.length === 0) return nothingLanded;
    const overruling = listedBy === undefined ? [] : await readShownTwice(client, { ...input, records });
    const { counts, findings } = await landRecords(client, {
      ...where,
      records,
      askedAt,
      compare,
      listedBy,
      overruling,
    });
    await noteFindings(client, input, { findings, landedAt, overruling });
    return counts;
  });
  const refused = [...page.refused, ...landed.refused];
  const mayLag = pass.kind !== 'reconcile';
  const quarantined = await quarantineRecords(client, {
    ...where,
    stream: pass.stream,
    mayLag,
    askedAt,
    refused,
  });
  await noteListing(client, input, { refused, landedAt });
  if (pass.kind === 'sync') await settleRefused(client, { ...where, refused });
  const ids = [...page.records.map(({ id }) => id), ...refused.flatMap(idsShown)];
  await noteMet(client, { ...where, ids, servedAt });
  const counted: PageFacts = {
    ...landed.counts,
    read: page.read,
    quarantined,
    deleted: 0,
    requests,
    servedAt,
    heardAt,
    highest: page.highest,
    order: page.order,
    nextCursor,
  };
  await recordPage(client, pass, counted);
  if (nextCursor === null) await completePass(client, pass, resource);
  // A record that has moved to this list is what the other list, read before, was found to lack.
  if (nextCursor === null && pass.kind === 'sync' && resource.streams.length > 1)
    await settleAhead(client, where);
  return counted;
}

/**
 * Records the findings. A difference is a discrepancy only if a complete listing found it; a sync may have been ahead of a webhook, or run without
 * webhooks.
 */
async function noteFindings(
  client: PoolClient,
  { pass, resource, servedAt }: PageToLand,
  found: { findings: Findings; landedAt: string; overruling: readonly string[] },
): Promise<void> {
  const { findings, landedAt, overruling } = found;
  if (pass.kind === 'sync') {
    await noteUnannounced(client, { ...pass, resource, changed: [...findings.missing, ...findings.stale] });
  }
  if (pass.kind !== 'reconcile') {
    if (findings.doubted) await wantReconcile(client, { ...pass, resource });
    return;
  }
  // Requests another reconcile, because the list of this one may lag.
  if (findings.revived) await wantReconcile(client, { ...pass, resource });
  const where = { pass, resource, landedAt };
  await closeShownTwice(client, { ...where, ids: overruling });
  await noteDiscrepancies(client, { ...where, findings, apart: overruling });
  await findAhead(client, { ...where, servedAt, findings });
}

async function noteListing(
  client: PoolClient,
  { pass, resource, page }: PageToLand,
  { refused, landedAt }: { refused: readonly RefusedRecord[]; landedAt: string },
): Promise<void> {
  if (pass.kind === 'sync') return;
  if (page.highest !== null) await noteAhead(client, { ...pass, highest: page.highest, landedAt });
  if (pass.kind !== 'reconcile') return;
  const refusedIds = refused.flatMap(({ recordId }) => recordId ?? []);
  const digits = refused.flatMap((one) => one.digits ?? []);
  const heldIds = await heldByDigits(client, { ...pass, resource, digits });
  await listRefused(client, { pass, ids: [...refusedIds, ...heldIds] });
}

/** IDs under which a record that could not land may be held. */
function idsShown({ recordId, digits = [] }: RefusedRecord): readonly string[] {
  return recordId === null ? digits : [recordId];
}
