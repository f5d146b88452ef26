import type { Client } from '@temporalio/client';
import { scheduleIds } from '../../temporal/schedule-ids.ts';
import { describeSchedule } from './settle-schedule.ts';

/** The state of the schedule that syncs a connection. */
export interface SyncSchedule {
  /** Null while it is paused. */
  nextRunAt: Date | null;
  /** The note of the pause; null: it is not paused. */
  pausedWhy: string | null;
}

/** Reads one connection's schedule from Temporal; undefined if there is none. Throws the errors of the client if Temporal is away. */
export async function readSyncSchedule(
  temporal: Client,
  connection: string,
): Promise<SyncSchedule | undefined> {
  const schedule = await temporal.withDeadline(Date.now() + 5_000, () =>
    describeSchedule(temporal, scheduleIds.connection('sync', connection)),
  );
  if (schedule === undefined) return undefined;
  const { state, info } = schedule;
  const [next = null] = info.nextActionTimes;
  return state.paused
    ? { nextRunAt: null, pausedWhy: state.note ?? '' }
    : { nextRunAt: next, pausedWhy: null };
}
