import type { ClientBase } from 'pg';
import type { Warehouse } from '../open-warehouse.ts';
import { warehouseId } from '../warehouse-id.ts';
import { readNote } from './note-snapshot.ts';

/** By what the snapshots of a warehouse in a lake are told from another's. */
interface Owner {
  readonly warehouseId: string;
  readonly hasNoted: (snapshotId: string) => Promise<boolean>;
}

export async function lakeOwner(warehouse: Warehouse): Promise<Owner> {
  return lakeOwnerIn(warehouse.pool, await warehouseId(warehouse));
}

/** The same where the ID is known, in a session of one's own. */
export function lakeOwnerIn(client: Pick<ClientBase, 'query'>, id: string): Owner {
  return { warehouseId: id, hasNoted: async (snapshot) => (await readNote(client, snapshot)) !== undefined };
}
