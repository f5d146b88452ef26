import { startOrJoin } from '../temporal/start-or-join.ts';
import { startRequest } from '../temporal/start-request.ts';
import { readWantedReconciles } from '../warehouse/reconcile/read-wanted-reconciles.ts';
import type { Dependencies } from './dependencies.ts';

/**
 * Starts a reconcile of the resources that need one, because they have a deletion that only a complete list can confirm. A running reconcile is
 * left alone; the next sync starts one for the resources that it does not list.
 */
export async function startWanted(
  { warehouse, temporal }: Pick<Dependencies, 'warehouse' | 'temporal'>,
  { connection, reason }: { connection: string; reason: string },
): Promise<void> {
  const resources = await readWantedReconciles(warehouse, connection);
  if (resources.length === 0) return;
  await startOrJoin(temporal, startRequest('reconcile', { connection, resources, reason }, 'schedules'));
}
