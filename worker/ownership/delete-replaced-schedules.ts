import { ScheduleNotFoundError, type Client } from '@temporalio/client';
import type { Logger } from 'pino';
import { loggingFailure } from '../../operations/logging-failure.ts';
import type { OwnerRecord } from '../../operations/ownership/owner-record.ts';
import { schedulesOfOthers } from '../../operations/ownership/schedules-of-others.ts';

/**
 * Deletes the schedules of warehouses that this one has replaced as owner of the namespace; they can be recreated from those
 * warehouses' databases. Failures are logged: the next worker that starts does the rest.
 */
export async function deleteReplacedSchedules(
  temporal: Client,
  { warehouse, replaced }: OwnerRecord,
  { logger }: { logger: Logger },
): Promise<void> {
  if (replaced.length === 0) return;
  const failing =
    'Schedules of the owner before could not be deleted: the next worker that starts tries again.';
  await loggingFailure(logger, failing, async () => {
    for (const schedule of await schedulesOfOthers(temporal, warehouse)) {
      if (replaced.includes(schedule.warehouse)) await deleteSchedule(temporal, schedule.id);
    }
  });
}

async function deleteSchedule(temporal: Client, id: string): Promise<void> {
  try {
    await temporal.schedule.getHandle(id).delete();
  } catch (error) {
    // Another worker was faster, or the list is slightly stale.
    if (!(error instanceof ScheduleNotFoundError)) throw error;
  }
}
