import { setExportEvery } from '../../../warehouse/snapshots/export-schedule.ts';
import { followExport } from '../../../operations/schedules/follow-export.ts';
import { changeAndFollow } from '../../change-and-follow.ts';
import { withWarehouse } from '../../with-warehouse.ts';

/** Sets the export schedule. `every` is in milliseconds; null ends the schedule. */
export async function changeExportSchedule(every: number | null): Promise<void> {
  await withWarehouse((warehouse, settings) =>
    changeAndFollow(
      { warehouse, settings },
      {
        change: () => setExportEvery(warehouse, every),
        follow: (temporal) => followExport({ warehouse, temporal }),
        later: 'Temporal is out of reach: the schedule follows when a worker starts.',
      },
    ),
  );
}
