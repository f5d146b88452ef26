import type { Logger } from 'pino';
import type { TickAdmitted } from '../../activities/schedules.ts';
import { scheduleIds } from '../../temporal/schedule-ids.ts';
import { withExportEvery } from '../../warehouse/snapshots/export-schedule.ts';
import { warehouseId } from '../../warehouse/warehouse-id.ts';
import { loggingFailure } from '../logging-failure.ts';
import type { SchedulePlaces } from './update-schedules.ts';
import { settleSchedule } from './settle-schedule.ts';
import { wantedExportSchedule } from './wanted-export-schedule.ts';

const deadlineMilliseconds = 10_000;

/** Updates the schedule of exports to match the database. Throws ForeignSchedule, and the errors of the client if Temporal is away. */
export async function updateExportSchedule({ warehouse, temporal }: SchedulePlaces): Promise<void> {
  const owner = await warehouseId(warehouse);
  await withExportEvery(warehouse, async (every) => {
    const wanted = wantedExportSchedule(every);
    await temporal.withDeadline(Date.now() + deadlineMilliseconds, () =>
      settleSchedule({ temporal, owner }, { id: scheduleIds.export, wanted, resume: false }),
    );
  });
}

/** Removes a schedule that fires although there should be none. */
export async function admitExport(places: SchedulePlaces): Promise<TickAdmitted> {
  if ((await withExportEvery(places.warehouse, (every) => Promise.resolve(every))) !== null)
    return { admitted: true };
  await updateExportSchedule(places);
  return { admitted: false, why: 'Exports have no schedule any more.' };
}

/** Logs failures: a worker works without the schedule. */
export async function repairExportSchedule(
  places: SchedulePlaces,
  { logger }: { logger: Logger },
): Promise<void> {
  const failing = 'The schedule "export" could not be repaired: the next worker that starts tries again.';
  await loggingFailure(logger, failing, () => updateExportSchedule(places));
}
