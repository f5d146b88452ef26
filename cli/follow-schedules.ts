import type { Warehouse } from '../warehouse/open-warehouse.ts';
import type { Settings } from '../worker/settings.ts';
import { printAside } from './printer.ts';

/**
 * Brings the schedules of a connection to what was just written to the database. Where Temporal is out of reach the command
 * has done its part all the same: it says that they follow. Throws ForeignSchedule.
 */
export async function followSchedules(
  { warehouse, settings }: { warehouse: Warehouse; settings: Settings },
  input: { connectionId: string; resume?: boolean },
): Promise<void> {
  const { ServiceError } = await import('@temporalio/client');
  const { connectTemporal, TemporalUnavailable } = await import('../worker/temporal-client.ts');
  const { followConnection } = await import('../worker/schedules/follow-connection.ts');
  try {
    const temporal = await connectTemporal(settings, { patienceMilliseconds: 5_000 });
    try {
      await followConnection({ warehouse, temporal }, input);
    } finally {
      await temporal.connection.close();
    }
  } catch (error) {
    if (!(error instanceof TemporalUnavailable) && !(error instanceof ServiceError)) throw error;
    printAside(
      `Temporal is out of reach: the schedules of ${input.connectionId} follow when a worker starts.`,
    );
  }
}
