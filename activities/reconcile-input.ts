import { resourceNamed } from '../resources/index.ts';
import { firstStream } from '../resources/streams-of.ts';
import type { ListingInHand } from '../warehouse/reconcile/listing-in-hand.ts';
import type { PassInHand } from '../warehouse/passes/pass.ts';
import { createLease } from './create-lease.ts';

/** The input of each step of a reconcile, for one resource of the run. */
export interface ReconcileInput {
  runId: string;
  connection: string;
  resource: string;
}

export function createListing({ connection, resource, runId }: ReconcileInput): ListingInHand {
  return { connectionId: connection, resource: resourceNamed(resource), runId, lease: createLease() };
}

/** Requests outside of a listing belong to the resource's first stream. `token`: the mark of the access token. */
export function createPass(
  { connectionId, resource, runId, lease }: ListingInHand,
  token: string,
): PassInHand {
  const stream = firstStream(resource);
  return { connectionId, stream, kind: 'reconcile', part: '', runId, lease, token };
}
