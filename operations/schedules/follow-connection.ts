import type { Client } from '@temporalio/client';
import { scheduleIds, scheduleKinds } from '../../temporal/schedule-ids.ts';
import {
  withScheduleState,
  type ScheduleNotes,
  type ScheduleState,
} from '../../warehouse/connections/schedule-state.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { warehouseId } from '../../warehouse/warehouse-id.ts';
import { settleSchedule } from './settle-schedule.ts';
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
  await withScheduleState(warehouse, connectionId, (state, notes) =>
    settleConnection({ temporal, owner }, { connectionId, state, notes, resume }),
  );
}

/** The same, for who holds the state already. */
export async function settleConnection(
  places: { temporal: Client; owner: string },
  input: { connectionId: string; state: ScheduleState | undefined; notes: ScheduleNotes; resume: boolean },
): Promise<void> {
  const { connectionId, state, notes, resume } = input;
  await places.temporal.withDeadline(Date.now() + deadlineMilliseconds, async () => {
    for (const kind of scheduleKinds) {
      const wanted = wantedSchedule(kind, state);
      await settleSchedule(places, { id: scheduleIds.connection(kind, connectionId), wanted, resume });
    }
  });
  if (state === undefined) return;
  const reached = state.pausedWhy !== null;
  if (reached !== state.pauseReachedSchedules) await notes.pauseReached(reached);
}
