import { pruneWarehouse, type Pruned } from '../warehouse/retention/prune-warehouse.ts';
import type { Dependencies } from './dependencies.ts';
import { heartbeating } from './heartbeating.ts';

export interface PruneInput {
  /** Only counts, without removing. */
  dryRun: boolean;
}

/** Removes from the warehouse data older than its retention. */
export function prune(
  { warehouse, policies: { keep } }: Dependencies,
  { dryRun }: PruneInput,
): Promise<Pruned> {
  return heartbeating((signal) => pruneWarehouse(warehouse, { keep, dryRun, signal }));
}
