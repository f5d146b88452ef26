import type { Logger } from 'pino';
import { listConnections } from '../../warehouse/connections/list-connections.ts';
import { warehouseId } from '../../warehouse/warehouse-id.ts';
import { followConnection, type SchedulePlaces } from '../../operations/schedules/follow-connection.ts';
import { ForeignSchedule } from '../../operations/schedules/settle-schedule.ts';

/**
 * Brings the schedules of all connections of this API address to what the database says, and deletes those of connections
 * that are gone. What goes wrong is logged: a worker works without. Ends early, between two connections, when it is stopped.
 */
export async function repairSchedules(
  places: SchedulePlaces & { apiAddress: string },
  { logger, stopping }: { logger: Logger; stopping: AbortSignal },
): Promise<void> {
  try {
    for (const connectionId of await connectionsToRepair(places)) {
      if (stopping.aborted) return;
      await followConnection(places, { connectionId }).catch((error: unknown) => {
        if (!(error instanceof ForeignSchedule)) throw error;
        logger.warn({ connection: connectionId, reason: error.message }, remedy);
      });
    }
  } catch (error) {
    logger.warn({ reason: reasonOf(error) }, remedy);
  }
}

const remedy =
  'Schedules could not be brought to what the database says: see the reason; they are repaired when a worker starts.';

async function connectionsToRepair(places: SchedulePlaces & { apiAddress: string }): Promise<string[]> {
  // Listed before the connections are read: a connection that is added meanwhile is then not taken for one that is gone.
  const scheduled = await connectionsWithSchedules(places);
  const connections = await listConnections(places.warehouse);
  const known = new Set(connections.map(({ connection_id }) => connection_id));
  const ours = connections.filter(({ api_address }) => api_address === places.apiAddress);
  const gone = [...scheduled].filter((connection) => !known.has(connection));
  return [...ours.map(({ connection_id }) => connection_id), ...gone];
}

/** Of this warehouse: what others have in the namespace is theirs. */
async function connectionsWithSchedules({ warehouse, temporal }: SchedulePlaces): Promise<Set<string>> {
  const owner = await warehouseId(warehouse);
  const connections = new Set<string>();
  await temporal.withDeadline(Date.now() + deadlineMilliseconds, async () => {
    for await (const { memo } of temporal.schedule.list()) {
      if (memo?.daybook === owner && typeof memo.connection === 'string') connections.add(memo.connection);
    }
  });
  return connections;
}

/** Thousands of schedules come in pages. */
const deadlineMilliseconds = 30_000;

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
