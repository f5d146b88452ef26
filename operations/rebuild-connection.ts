import type { Resource } from '../resources/resource.ts';
import { firstStream } from '../resources/streams-of.ts';
import { countsOfRebuild, rebuildBatch } from '../warehouse/history/rebuild-batch.ts';
import type { Warehouse } from '../warehouse/open-warehouse.ts';
import { withRun, type OpenRun } from './with-run.ts';

export interface RebuiltResource {
  readonly resource: string;
  /** Records rewritten from history, restored ones included. */
  written: number;
  /** Records whose rows were missing. */
  restored: number;
  /** Rows without a living record in history. */
  removed: number;
}

/**
 * Rebuilds `finance` from `history`, without the API: the latest version of every record, with the columns of this release. Quarantine and
 * watermarks stay unchanged, and so do tombstones, unless history has the record alive again. Idempotent, also after a kill. `onBatch`
 * receives the progress of a resource.
 *
 * Throws UnknownConnection, CommitsLost; errors of the database pass through.
 */
export async function rebuildConnection(
  warehouse: Warehouse,
  input: {
    connectionId: string;
    resources: readonly Resource[];
    onBatch: (sofar: RebuiltResource) => void;
  },
): Promise<RebuiltResource[]> {
  const { connectionId, resources } = input;
  const streams = resources.map(firstStream);
  return withRun(warehouse, { connectionId, kind: 'rebuild', reason: 'rebuild', streams }, (run) =>
    rebuildResources(warehouse, { ...input, run }),
  );
}

async function rebuildResources(
  warehouse: Warehouse,
  input: Parameters<typeof rebuildConnection>[1] & { run: OpenRun },
): Promise<RebuiltResource[]> {
  const { connectionId, resources, onBatch, run } = input;
  const rebuilt: RebuiltResource[] = [];
  for (const resource of resources) {
    const sofar = { resource: resource.name, written: 0, restored: 0, removed: 0 };
    for (let after: string | null = ''; after !== null;) {
      const { last, ...batch } = await rebuildBatch(warehouse, {
        connectionId,
        resource,
        runId: run.runId,
        after,
      });
      sofar.written += batch.written;
      sofar.restored += batch.restored;
      sofar.removed += batch.removed;
      after = last;
      onBatch(sofar);
    }
    run.noteCounted(firstStream(resource), countsOfRebuild(sofar));
    rebuilt.push(sofar);
  }
  return rebuilt;
}
