import type { Client } from '@temporalio/client';
import { scheduleIds, scheduleKinds } from '../../temporal/schedule-ids.ts';
import {
  withScheduleState,
  type SchedulesSettled,
  type ScheduleState,
} from '../../warehouse/connections/schedule-state.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { warehouseId } from '../../warehouse/warehouse-id.ts';
import { digestSchedules, settleSchedule } from './settle-schedule.ts';
import { wantedSchedule } from './wanted-schedules.ts';

/** The database with the desired state, and the Temporal with the schedules. */
export interface SchedulePlaces {
  readonly warehouse: Warehouse;
  readonly temporal: Client;
}

/** A command or a worker does not wait for a hanging Temporal; the next repair does the rest. */
const deadlineMilliseconds = 10_000;

/**
 * Updates the schedules of a connection to match the database. Called after every change there; idempotent. `resume` lifts pauses made in the Web
 * UI too. Throws ForeignSchedule, and the errors of the client if Temporal is away.
 */
export async function updateSchedules(
  { warehouse, temporal }: SchedulePlaces,
  { connectionId, resume = false }: { connectionId: string; resume?: boolean },
): Promise<void> {
  const owner = await warehouseId(warehouse);
  await withScheduleState(warehouse, connectionId, async (state, notes) => {
    await notes.settled(await settleConnection({ temporal, owner }, { connectionId, state, resume }));
  });
}

/**
 * The same for callers that already hold the state: returns the results to be recorded. `listed`: the schedules that Temporal listed a moment
 * ago, if it did.
 */
export async function settleConnection(
  places: { temporal: Client; owner: string },
  input: {
    connectionId: string;
    state: ScheduleState | undefined;
    resume: boolean;
    listed?: { has(scheduleId: string): boolean };
    /** By `Date.now()`. */
    deadline?: number;
  },
): Promise<SchedulesSettled[]> {
  const { connectionId, state, resume, listed, deadline = Date.now() + deadlineMilliseconds } = input;
  let missed = 0;
  await places.temporal.withDeadline(deadline, async () => {
    for (const kind of scheduleKinds) {
      const [id, wanted] = [scheduleIds.connection(kind, connectionId), wantedSchedule(kind, state)];
      missed += await settleSchedule(places, { id, wanted, resume, unlisted: listed?.has(id) === false });
    }
  });
  if (state === undefined) return [];
  return [{ connectionId, as: wantedDigest(state), pauseReached: state.pausedWhy !== null, missed }];
}

/** Returns a digest of all schedules that Temporal should have for a connection. */
export function wantedDigest(state: ScheduleState): string {
  return digestSchedules(scheduleKinds.map((kind) => wantedSchedule(kind, state)));
}
