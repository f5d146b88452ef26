import type { Warehouse } from '../open-warehouse.ts';
import { warehouseId } from '../warehouse-id.ts';
import { readNote } from './note-snapshot.ts';

/** By what the snapshots of this warehouse in a lake are told from another's. */
export async function lakeOwner(warehouse: Warehouse): Promise<{
  readonly warehouseId: string;
  readonly hasNoted: (snapshotId: string) => Promise<boolean>;
}> {
  return {
    warehouseId: await warehouseId(warehouse),
    hasNoted: async (id) => (await readNote(warehouse.pool, id)) !== undefined,
  };
}
