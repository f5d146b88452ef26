import { pruneWarehouse, type Pruned } from '../warehouse/retention/prune-warehouse.ts';
import type { Dependencies } from './dependencies.ts';
import { heartbeating } from './heartbeating.ts';

export interface PruneInput {
  /** Only counts. */
  dryRun: boolean;
}

/** Removes from the warehouse what is older than it is to be kept. */
export function prune(
  { warehouse, policies: { keep } }: Dependencies,
  { dryRun }: PruneInput,
): Promise<Pruned> {
  return heartbeating((signal) => pruneWarehouse(warehouse, { keep, dryRun, signal }));
}
