import { sql } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';
import { readDemand } from './read-demand.ts';

/**
 * Records the factor by which the sync intervals of all connections of an API address are stretched, so that syncs that find nothing fit their share
 * of the API budget. Otherwise chance would decide which connections wait. It changes in steps, and goes down only with some room, because every step
 * is sent to Temporal for every connection.
 */
export async function settleStretch(
  warehouse: Warehouse,
  api: { address: string; requestsPer10s: number },
): Promise<void> {
  const { needed_stretch: needed } = await readDemand(warehouse, api);
  const [up, down] = [stepFor(needed), stepFor(needed * room)];
  await sql`
    update sync.connections set sync_stretch = case when sync_stretch < ${up} then ${up}::float8 else ${down} end
    where api_address = ${api.address} and sync_stretch not between ${up} and ${down}
  `.execute(warehouse.db);
}

/** Returns the smallest step that suffices. */
export function stepFor(needed: number): number {
  if (needed <= 1) return 1;
  const doubled = 2 ** Math.floor(Math.log2(needed));
  return [1, 1.25, 1.5, 1.75, 2].map((part) => part * doubled).find((step) => step >= needed) ?? doubled * 2;
}

const room = 1.1;
