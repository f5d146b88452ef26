import { keeping } from './proxies.ts';

/** One JSON object, so that "Start Workflow Like This One" in the Web UI repeats it. */
export interface PruneWarehouseInput {
  /** Only counts what would go. */
  dryRun?: boolean;
}

/** Removes what is older than it is to be kept; the result says how many rows of each table. */
export async function pruneWarehouse(
  input: PruneWarehouseInput | null = {},
): Promise<Record<string, number>> {
  const { dryRun = false } = input ?? {};
  return keeping.prune({ dryRun });
}
