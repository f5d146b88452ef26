import { ServiceError } from '@temporalio/client';
import type { ConnectionStatus } from '../warehouse/connections/read-status.ts';
import type { SyncSchedule } from './schedules/read-sync-schedules.ts';
import { TemporalUnavailable } from './temporal-client.ts';

export interface ConnectionReport extends ConnectionStatus {
  /** Null where no schedule runs, and where Temporal is out of reach. */
  next_run_at: Date | null;
}

export interface ConnectionReports {
  connections: ConnectionReport[];
  /** Whether Temporal said what it knows. */
  temporalAnswered: boolean;
}

/** The state of connections as the warehouse has it, with what Temporal adds where it is in reach. */
export async function connectionReports(
  connections: readonly ConnectionStatus[],
  readSchedules: (connections: readonly string[]) => Promise<Map<string, SyncSchedule>>,
): Promise<ConnectionReports> {
  const scheduled = connections.filter(({ every_seconds }) => every_seconds !== null);
  const schedules =
    scheduled.length === 0
      ? new Map<string, SyncSchedule>()
      : await readSchedules(scheduled.map(({ name }) => name)).catch(unlessAway);
  return {
    connections: connections.map((connection) => reportOf(connection, schedules?.get(connection.name))),
    temporalAnswered: schedules !== undefined,
  };
}

function unlessAway(error: unknown): undefined {
  if (!(error instanceof TemporalUnavailable) && !(error instanceof ServiceError)) throw error;
}

function reportOf(connection: ConnectionStatus, schedule: SyncSchedule | undefined): ConnectionReport {
  const next_run_at = schedule?.nextRunAt ?? null;
  if (connection.paused !== null || schedule === undefined || schedule.pausedWhy === null)
    return { ...connection, next_run_at };
  // Paused in the Web UI, which the warehouse does not know of.
  return { ...connection, paused: { why: schedule.pausedWhy, since: null }, stale: false, next_run_at };
}
