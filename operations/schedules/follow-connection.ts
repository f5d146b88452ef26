import type { Client } from '@temporalio/client';
import { scheduleIds, scheduleKinds } from '../../temporal/schedule-ids.ts';
import {
  withScheduleState,
  type SchedulesSettled,
  type ScheduleState,
} from '../../warehouse/connections/schedule-state.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { warehouseId } from '../../warehouse/warehouse-id.ts';
import { digestOf, settleSchedule } from './settle-schedule.ts';
import { wantedSchedule } from './wanted-schedules.ts';

/** Where the desired state is, and where the schedules are. */
export interface SchedulePlaces {
  readonly warehouse: Warehouse;
  readonly temporal: Client;
}

/** A command or a worker does not wait for a Temporal that hangs; the next repair does what was left. */
const deadlineMilliseconds = 10_000;

/**
 * Brings the schedules of a connection to what the database says: it is called after every change there, as often as one
 * likes. `resume` lifts pauses made in the Web UI too. Throws ForeignSchedule, and what the client throws without Temporal.
 */
export async function followConnection(
  { warehouse, temporal }: SchedulePlaces,
  { connectionId, resume = false }: { connectionId: string; resume?: boolean },
): Promise<void> {
  const owner = await warehouseId(warehouse);
  await withScheduleState(warehouse, connectionId, async (state, notes) => {
    await notes.settled(await settleConnection({ temporal, owner }, { connectionId, state, resume }));
  });
}

/**
 * The same, for who holds the state already: returns what is to be written down. `listed` are the schedules that Temporal listed a
 * moment ago, when they were.
 */
export async function settleConnection(
  places: { temporal: Client; owner: string },
  input: {
    connectionId: string;
    state: ScheduleState | undefined;
    resume: boolean;
    listed?: { has(scheduleId: string): boolean };
    /** By Date.now(). */
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
  return [{ connectionId, as: wantedOf(state), pauseReached: state.pausedWhy !== null, missed }];
}

/** Names all that Temporal is to have of a connection. */
export function wantedOf(state: ScheduleState): string {
  return digestOf(scheduleKinds.map((kind) => wantedSchedule(kind, state)));
}
