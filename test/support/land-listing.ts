import { randomUUID } from 'node:crypto';
import { streamNamed } from '../../resources/index.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import type { PassInHand } from '../../warehouse/passes/pass.ts';
import { takePass } from '../../warehouse/passes/take-pass.ts';
import type { ListingInHand } from '../../warehouse/reconcile/listing-in-hand.ts';
import { beginRun } from '../../warehouse/runs/begin-run.ts';
import { landRecords, readTokenMark, markTokenProved } from './land.ts';

/** A reconcile's listing, whose later steps use the lease of its pass. */
export interface Listing extends ListingInHand {
  readonly pass: PassInHand;
  readonly lookbackMilliseconds: number;
}

/** Begins a reconcile of a stream and takes its pass, up to the first page. */
export async function openListing(
  warehouse: Warehouse,
  input: { connectionId: string; stream: string; runId?: string },
): Promise<Listing> {
  const { connectionId, stream, runId = randomUUID() } = input;
  const { resource } = streamNamed(stream);
  await beginRun(warehouse, {
    runId,
    connectionId,
    kind: 'reconcile',
    workflowId: `reconcile/${connectionId}`,
    temporalRunId: runId,
    reason: 'test',
  });
  await markTokenProved(warehouse, runId);
  const pass: PassInHand = {
    connectionId,
    stream,
    kind: 'reconcile',
    part: '',
    runId,
    lease: randomUUID(),
    token: await readTokenMark(warehouse, connectionId),
  };
  await takePass(warehouse, { pass, resource, lookbackMilliseconds: 0 });
  return { connectionId, resource, runId, lease: pass.lease, pass, lookbackMilliseconds: 600_000 };
}

/** Lists these records as all that a stream has, in one page, as a reconcile does. */
export async function landListing(
  warehouse: Warehouse,
  input: {
    connectionId: string;
    stream: string;
    records: readonly string[];
    runId?: string;
    /** Default: the service does not tell. */
    servedAt?: Date | undefined;
  },
): Promise<Listing> {
  const listing = await openListing(warehouse, input);
  const { records, servedAt = null } = input;
  await landRecords(warehouse, { pass: listing.pass, records, servedAt });
  return listing;
}
