import { keeping } from './proxies.ts';

/** One JSON object, so that "Start Workflow Like This One" in the Web UI repeats it. */
export interface PruneWarehouseInput {
  /** Only counts, without removing. */
  dryRun?: boolean;
}

/** Removes rows older than their retention; returns the number of rows by table. */
export async function pruneWarehouse(
  input: PruneWarehouseInput | null = {},
): Promise<Record<string, number>> {
  const { dryRun = false } = input ?? {};
  return keeping.prune({ dryRun });
}
