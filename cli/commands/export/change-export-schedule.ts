import { setExportEvery } from '../../../warehouse/snapshots/export-schedule.ts';
import { updateExportSchedule } from '../../../operations/schedules/update-export-schedule.ts';
import { changeAndUpdateSchedules } from '../../change-and-update-schedules.ts';
import { withWarehouse } from '../../with-warehouse.ts';

/** Sets the export schedule. `every` is in milliseconds; null ends the schedule. */
export async function changeExportSchedule(every: number | null): Promise<void> {
  await withWarehouse((warehouse, settings) =>
    changeAndUpdateSchedules(
      { warehouse, settings },
      {
        change: () => setExportEvery(warehouse, every),
        update: (temporal) => updateExportSchedule({ warehouse, temporal }),
        later: 'Temporal cannot be reached; the schedule will be updated when a worker starts.',
      },
    ),
  );
}
