import type { PoolClient } from 'pg';
import { microsecondsOf } from '../../resources/instant.ts';
import type { SourceRecord } from '../../resources/source-record.ts';
import { firstStream } from '../../resources/streams-of.ts';
import { requireProof } from '../connections/prove-token.ts';
import { inTransaction } from '../transactions/in-transaction.ts';
import { landOne, type FetchedLanding } from '../landing/land-fetched.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { lockResource } from '../passes/lock-pass.ts';
import { closeOverruled } from '../quarantine/close-overruled.ts';
import { versionOfEntry } from '../quarantine/version-of-entry.ts';
import type { RunScope } from '../record-scope.ts';
import { lockListing, type ListingInHand } from './listing-in-hand.ts';
import { leaveUndecided } from './fetches-failing.ts';
import { expandsPlatformData } from '../connections/expands-platform-data.ts';
import { addToRun } from '../runs/add-to-run.ts';
import { wantReconcile } from './want-reconcile.ts';

/**
 * Decides, after a fetch, about a record that a listing did not show, or showed under an older version than the one held or in quarantine. A fetch
 * does not lag: if it too has an older version, the held one is wrong and is replaced; if not, the list lagged, and the record lands as any other. A
 * good version from the fetch closes the bad one in quarantine. The held version must be the one that was found: another run may have written it
 * since.
 *
 * Throws LeaseLost, TokenNotProved, UnknownConnection, ConnectionReplaced; errors of the database pass through.
 */
export async function landAhead(
  warehouse: Warehouse,
  input: ListingInHand & {
    readonly id: string;
    /** extra: the listing did not show it, so its sums leave the record out whatever the fetch returns. */
    readonly kind: 'extra' | 'ahead';
    readonly token: string;
    readonly record: SourceRecord;
  },
): Promise<FetchedLanding> {
  const { connectionId, resource, runId } = input;
  return inTransaction(warehouse.pool, async ({ client }) => {
    await lockListing(client, input);
    const { landedAt } = await lockResource(client, { connectionId, resource: resource.name, runId });
    await requireProof(client, input);
    const held = await readHeld(client, input);
    const isAhead = held !== undefined && beats(held, versionOfEntry(input.record.text, resource));
    const landing = await landOne(client, {
      connectionId,
      resource,
      runId,
      landedAt,
      record: input.record,
      overruling: isAhead ? [input.id] : [],
    });
    const isStored = landing.refused === undefined;
    if (held !== undefined && isStored)
      await closeOverruled(client, {
        connectionId,
        resource,
        ids: [input.id],
        foundAt: held.found_at,
        landedAt,
      });
    // The run proves nothing then: what is held is not what the source has.
    if (!isStored)
      await addToRun(client, {
        runId,
        connectionId,
        stream: firstStream(resource),
        counts: { quarantined: 1 },
      });
    const isOverwritten = held === undefined && landing.counts.suppressed > 0;
    // Either another run has written a newer version meanwhile, perhaps from a wrong clock; or only a list brings the platform_data of this version.
    if (isOverwritten || (isAhead && isStored && (await expandsPlatformData(client, connectionId)))) {
      await leaveUndecided(client, input, input.id);
      if (!isOverwritten) await wantReconcile(client, input);
      return landing;
    }
    const [status, why] = decideOutcome({
      kind: input.kind,
      isAhead,
      isStored,
    });
    await client.query(
      `update sync.discrepancies set status = $5, closed_at = $6, closed_why = $7
       where connection_id = $1 and resource = $2 and run_id = $3 and record_id = $4 and closed_at is null`,
      [connectionId, resource.name, runId, input.id, status, landedAt, why],
    );
    return landing;
  });
}

function decideOutcome({
  kind,
  isAhead,
  isStored,
}: {
  kind: 'extra' | 'ahead';
  isAhead: boolean;
  isStored: boolean;
}): ['repaired' | 'dismissed', string] {
  if (isAhead && !isStored) return ['dismissed', 'the record cannot be stored as the source has it'];
  if (kind === 'extra') return ['dismissed', 'the source still has the record'];
  return isAhead
    ? ['repaired', 'the source has it so, under an older version']
    : ['dismissed', 'the list lagged behind'];
}

/** Reads the version that was found ahead or absent, if it is still held. */
async function readHeld(
  client: PoolClient,
  { connectionId, resource, runId, id }: RunScope & { readonly id: string },
): Promise<Held | undefined> {
  const { rows } = await client.query<Held>(
    `select d.version::text as version, f.id is null as deleted, d.found_at::text as found_at
     from sync.discrepancies d
     left join finance.${resource.name} f on f.connection_id = $1 and f.id = d.record_id
     left join sync.tombstones t on t.connection_id = $1 and t.resource = $2 and t.record_id = d.record_id
     where d.connection_id = $1 and d.resource = $2 and d.run_id = $3 and d.record_id = $4 and d.closed_at is null
       and coalesce(f.${resource.version}, t.version) = d.version`,
    [connectionId, resource.name, runId, id],
  );
  return rows[0];
}

interface Held {
  readonly version: string;
  readonly found_at: string;
  /** True for the version of a tombstone. */
  readonly deleted: boolean;
}

/** Whether the held version would keep this one from landing. A tie goes to the tombstone, and so may a version of the same second. */
function beats(held: Held, fetched: number | undefined): boolean {
  const known = microsecondsOf(held.version);
  if (fetched === undefined || known === undefined) return false;
  return held.deleted ? fetched - (fetched % 1e6) <= known : fetched < known;
}
