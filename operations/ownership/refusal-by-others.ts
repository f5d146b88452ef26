import { warehouseId } from '../../warehouse/warehouse-id.ts';
import { ofOtherSchedules, type NamespaceNotOurs } from './namespace-not-ours.ts';
import type { OwnershipPlaces } from './places.ts';
import { schedulesOfOthers } from './schedules-of-others.ts';

/** Returns a refusal if an unclaimed namespace holds schedules of another warehouse; undefined: it is free. */
export async function refusalByOthers(places: OwnershipPlaces): Promise<NamespaceNotOurs | undefined> {
  const warehouse = await warehouseId(places.warehouse);
  const others = await schedulesOfOthers(places.temporal, warehouse);
  if (others.length === 0) return undefined;
  return ofOtherSchedules(places, { scheduleIds: others.map(({ id }) => id), warehouse });
}
