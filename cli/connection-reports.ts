import { readStatus, type ConnectionStatus } from '../warehouse/connections/read-status.ts';
import type { Warehouse } from '../warehouse/open-warehouse.ts';
import type { SyncSchedule } from '../worker/schedules/read-sync-schedules.ts';
import type { Settings } from '../worker/settings.ts';

export interface ConnectionReport extends ConnectionStatus {
  /** Null where no schedule runs, and where Temporal is out of reach. */
  next_run_at: Date | null;
}

/** The state of connections as the warehouse has it, with what Temporal adds where it is in reach. Throws UnknownConnection. */
export async function connectionReports(
  { warehouse, settings }: { warehouse: Warehouse; settings: Settings },
  connectionId: string | undefined,
): Promise<ConnectionReport[]> {
  const connections = await readStatus(warehouse, connectionId);
  const scheduled = connections.filter(({ every_seconds }) => every_seconds !== null);
  const schedules = await schedulesOf(
    settings,
    scheduled.map(({ name }) => name),
  );
  return connections.map((connection) => {
    const schedule = schedules.get(connection.name);
    const next_run_at = schedule?.nextRunAt ?? null;
    if (connection.paused !== null || schedule === undefined || schedule.pausedWhy === null)
      return { ...connection, next_run_at };
    // Paused in the Web UI, which the warehouse does not know of.
    return { ...connection, paused: { why: schedule.pausedWhy, since: null }, stale: false, next_run_at };
  });
}

async function schedulesOf(
  settings: Settings,
  connections: readonly string[],
): Promise<Map<string, SyncSchedule>> {
  if (connections.length === 0) return new Map();
  const { ServiceError } = await import('@temporalio/client');
  const { connectTemporal, TemporalUnavailable } = await import('../worker/temporal-client.ts');
  const { readSyncSchedules } = await import('../worker/schedules/read-sync-schedules.ts');
  try {
    const temporal = await connectTemporal(settings, { patienceMilliseconds: 3_000 });
    try {
      return await readSyncSchedules(temporal, connections);
    } finally {
      await temporal.connection.close();
    }
  } catch (error) {
    if (error instanceof TemporalUnavailable || error instanceof ServiceError) return new Map();
    throw error;
  }
}
