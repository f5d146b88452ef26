import type { Manifest } from '../../lake/manifest/manifest.ts';
import { timeOfSnapshot } from '../../lake/manifest/snapshot-id.ts';

/** The manifest of an empty snapshot, taken when its run began. */
export function emptyManifest(id: string, warehouseId: string): Manifest {
  return {
    snapshot_id: id,
    run_id: 'run',
    warehouse_id: warehouseId,
    taken_at: new Date(timeOfSnapshot(id)).toISOString(),
    product_version: '0.6.0',
    schema_version: '1',
    rows: 0,
    bytes: 0,
    tables: {},
    watermarks: [],
    unfit: [],
  };
}
