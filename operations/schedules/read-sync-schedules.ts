import type { Client } from '@temporalio/client';
import { scheduleIds } from '../../temporal/schedule-ids.ts';
import { describeSchedule } from './settle-schedule.ts';

/** What Temporal says of the schedule that syncs a connection. */
export interface SyncSchedule {
  /** Null while it is paused. */
  nextRunAt: Date | null;
  /** The note of the pause; null: it is not paused. */
  pausedWhy: string | null;
}

/** By connection; those without a schedule are not in it. Throws what the client throws when Temporal is away. */
export async function readSyncSchedules(
  temporal: Client,
  connections: readonly string[],
): Promise<Map<string, SyncSchedule>> {
  const schedules = await temporal.withDeadline(Date.now() + 5_000, () =>
    Promise.all(
      connections.map((connection) => describeSchedule(temporal, scheduleIds.connection('sync', connection))),
    ),
  );
  return new Map(
    connections.flatMap((connection, index) => {
      const schedule = schedules[index];
      if (schedule === undefined) return [];
      const { state, info } = schedule;
      const [next = null] = info.nextActionTimes;
      const found: SyncSchedule = state.paused
        ? { nextRunAt: null, pausedWhy: state.note ?? '' }
        : { nextRunAt: next, pausedWhy: null };
      return [[connection, found] as const];
    }),
  );
}
