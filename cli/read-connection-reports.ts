import { rankConnections, type Ranking } from '../warehouse/connections/rank-connections.ts';
import { readStatus, readStatusesFor } from '../warehouse/connections/read-status.ts';
import type { Warehouse } from '../warehouse/open-warehouse.ts';
import type { ConnectionReport } from '../operations/connection-reports.ts';
import type { Settings } from '../config/settings.ts';
import { shortDeadline, withTemporal } from './with-temporal.ts';

interface Places {
  warehouse: Warehouse;
  settings: Settings;
}

/** Reads the state of connections, without waiting long for Temporal. Throws UnknownConnection. */
export async function readConnectionReports(
  { warehouse, settings }: Places,
  connectionId: string | undefined,
): Promise<ConnectionReport[]> {
  const { connectionReports } = await import('../operations/connection-reports.ts');
  const { readTemporalFacts } = await import('../operations/read-temporal-facts.ts');
  const { connections } = await connectionReports(await readStatus(warehouse, connectionId), (questions) =>
    withTemporal(settings, (temporal) => readTemporalFacts(temporal, questions), shortDeadline),
  );
  return connections;
}

/** Reads the reports of the `limit` connections that need a person first, and the ranking of all. */
export async function readFirstReports(
  { warehouse, settings }: Places,
  { limit }: { limit: number },
): Promise<{ connections: ConnectionReport[]; ranking: Ranking }> {
  const { connectionReports, unlessTemporalIsAway } = await import('../operations/connection-reports.ts');
  const { readTemporalFacts } = await import('../operations/read-temporal-facts.ts');
  const { readPausedSchedules } = await import('../operations/schedules/paused-schedules.ts');
  const paused = await withTemporal(settings, readPausedSchedules, shortDeadline).catch(unlessTemporalIsAway);
  const ranking = await rankConnections(warehouse, { pausedElsewhere: [...(paused?.keys() ?? [])], limit });
  const statuses = await readStatusesFor(warehouse, ranking.names);
  const { connections } = await connectionReports(
    statuses,
    // If Temporal was unreachable above, it is not waited for again.
    paused === undefined
      ? undefined
      : (questions) =>
          withTemporal(settings, (temporal) => readTemporalFacts(temporal, questions), shortDeadline),
  );
  return { connections, ranking };
}
