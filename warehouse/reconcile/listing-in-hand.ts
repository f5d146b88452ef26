import type { PoolClient } from 'pg';
import { streamsOf } from '../../resources/streams-of.ts';
import { LeaseLost } from '../errors.ts';
import type { Warehouse } from '../open-warehouse.ts';
import type { RunScope } from '../record-scope.ts';

/** The complete listing of a resource that a step of a reconcile works on, and the lease that entitles the step to. */
export interface ListingInHand extends RunScope {
  readonly lease: string;
}

/**
 * Takes the lease of a listing; the step that held it before can write nothing any more. False if there is none to work on: it is incomplete, because
 * it was restarted, or gone, because the resource is finished or another run lists it.
 */
export async function takeListing({ pool }: Warehouse, listing: ListingInHand): Promise<boolean> {
  const streams = streamsOf(listing.resource);
  const { rowCount } = await pool.query(
    `with listing as materialized (
       select completed_at from sync.passes
       where connection_id = $1 and stream = any($2::text[]) and kind = 'reconcile' and run_id = $3
       order by stream
       for update
     ), complete as (
       select from listing having count(completed_at) = cardinality($2::text[])
     )
     update sync.passes set lease = $4
     from complete
     where connection_id = $1 and stream = any($2::text[]) and kind = 'reconcile' and run_id = $3`,
    [listing.connectionId, streams, listing.runId, listing.lease],
  );
  return rowCount !== 0;
}

/**
 * Locks the listing until the transaction ends. Every step does so before it writes, and the landing of a page also locks the pass before the
 * resource. Throws LeaseLost if another step, or a reading, has taken the listing over, or it is gone.
 */
export async function lockListing(client: PoolClient, listing: ListingInHand): Promise<void> {
  const { connectionId, resource, runId, lease } = listing;
  const streams = streamsOf(resource);
  const { rows } = await client.query<{ lease: string }>(
    `select lease from sync.passes
     where connection_id = $1 and stream = any($2::text[]) and kind = 'reconcile' and run_id = $3
     order by stream
     for update`,
    [connectionId, streams, runId],
  );
  if (rows.length < streams.length || rows.some((pass) => pass.lease !== lease))
    throw new LeaseLost({ connectionId, stream: resource.name });
}
