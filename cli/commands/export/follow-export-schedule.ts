import { ServiceError } from '@temporalio/client';
import type { Warehouse } from '../../../warehouse/open-warehouse.ts';
import { followExport } from '../../../worker/schedules/follow-export.ts';
import type { Settings } from '../../../worker/settings.ts';
import { connectTemporal, TemporalUnavailable } from '../../../worker/temporal-client.ts';
import { printAside } from '../../printer.ts';

/** Brings the schedule to what was just written to the database. Out of Temporal's reach the command has done its part all the same. */
export async function followExportSchedule({
  warehouse,
  settings,
}: {
  warehouse: Warehouse;
  settings: Settings;
}): Promise<void> {
  try {
    const temporal = await connectTemporal(settings, { patienceMilliseconds: 5_000 });
    try {
      await followExport({ warehouse, temporal });
    } finally {
      await temporal.connection.close();
    }
  } catch (error) {
    if (!(error instanceof TemporalUnavailable) && !(error instanceof ServiceError)) throw error;
    printAside('Temporal is out of reach: the schedule follows when a worker starts.');
  }
}
