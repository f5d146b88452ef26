import { readStatus } from '../warehouse/connections/read-status.ts';
import type { Warehouse } from '../warehouse/open-warehouse.ts';
import type { ConnectionReport } from '../operations/connection-reports.ts';
import type { Settings } from '../config/settings.ts';

/** The state of connections, for a command that does not wait long for Temporal. Throws UnknownConnection. */
export async function readConnectionReports(
  { warehouse, settings }: { warehouse: Warehouse; settings: Settings },
  connectionId: string | undefined,
): Promise<ConnectionReport[]> {
  const { connectionReports } = await import('../operations/connection-reports.ts');
  const { connectTemporal } = await import('../operations/temporal-client.ts');
  const { readTemporalFacts } = await import('../operations/read-temporal-facts.ts');
  const { connections } = await connectionReports(
    await readStatus(warehouse, connectionId),
    async (questions) => {
      const temporal = await connectTemporal(settings, { deadlineMilliseconds: 3_000 });
      try {
        return await readTemporalFacts(temporal, questions);
      } finally {
        await temporal.connection.close();
      }
    },
  );
  return connections;
}
