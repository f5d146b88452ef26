import { startOrJoin } from '../temporal/start-or-join.ts';
import { startRequest } from '../temporal/start-request.ts';
import { readWantedReconciles } from '../warehouse/reconcile/read-wanted-reconciles.ts';
import type { Dependencies } from './dependencies.ts';

/**
 * Starts a reconcile of the resources that need one: a deletion was met of which only a complete list can say whether it is true. Where
 * one runs, it is left alone, and what it does not list is started by the next sync.
 */
export async function startWanted(
  { warehouse, temporal }: Pick<Dependencies, 'warehouse' | 'temporal'>,
  { connection, reason }: { connection: string; reason: string },
): Promise<void> {
  const resources = await readWantedReconciles(warehouse, connection);
  if (resources.length === 0) return;
  await startOrJoin(temporal, startRequest('reconcile', { connection, resources, reason }, 'schedules'));
}
