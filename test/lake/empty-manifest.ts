import type { Manifest } from '../../lake/manifest.ts';

/** Of a snapshot that has nothing in it. */
export function emptyManifest(id: string, warehouseId: string): Manifest {
  return {
    snapshot_id: id,
    run_id: 'run',
    warehouse_id: warehouseId,
    taken_at: '2026-01-01T00:00:00Z',
    product_version: '0.6.0',
    schema_version: '1',
    rows: 0,
    bytes: 0,
    tables: {},
    watermarks: [],
    unfit: [],
  };
}
