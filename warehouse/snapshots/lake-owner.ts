import type { ClientBase } from 'pg';
import type { Warehouse } from '../open-warehouse.ts';
import { warehouseId } from '../warehouse-id.ts';
import { readNote } from './note-snapshot.ts';

/** Tells the snapshots of one warehouse in a lake from those of another. */
interface Owner {
  readonly warehouseId: string;
  readonly hasNoted: (snapshotId: string) => Promise<boolean>;
}

export async function lakeOwner(warehouse: Warehouse): Promise<Owner> {
  return lakeOwnerIn(warehouse.pool, await warehouseId(warehouse));
}

/** Returns the same if the ID is known, in the given session. */
export function lakeOwnerIn(client: Pick<ClientBase, 'query'>, id: string): Owner {
  return { warehouseId: id, hasNoted: async (snapshot) => (await readNote(client, snapshot)) !== undefined };
}
