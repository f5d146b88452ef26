import type { DueTick, Tick, TickAdmitted } from '../../activities/schedules.ts';
import { scheduleIds } from '../../temporal/schedule-ids.ts';
import {
  readScheduleState,
  withScheduleState,
  type ScheduleState,
} from '../../warehouse/connections/schedule-state.ts';
import { warehouseId } from '../../warehouse/warehouse-id.ts';
import { settleConnection, type SchedulePlaces } from '../../operations/schedules/update-schedules.ts';
import { describeSchedule } from '../../operations/schedules/settle-schedule.ts';
import { wantedSchedule } from '../../operations/schedules/wanted-schedules.ts';

/**
 * Decides whether a schedule that fired may start its run. If Temporal was told to pause the schedule and it fires anyway, somebody resumed
 * it there, so the connection is resumed. A paused schedule that fires was triggered by hand and runs, unless it was paused while the run
 * waited for another one.
 */
export async function admitTick(
  { warehouse, temporal, apiAddress }: SchedulePlaces & { apiAddress: string },
  { kind, connection: connectionId, waitsSince }: DueTick,
): Promise<TickAdmitted> {
  // Nearly every tick changes nothing in Temporal. That can be checked without the lock, which only orders changes.
  const seen = await readScheduleState(warehouse, connectionId);
  if (seen !== undefined && isAsWanted(seen, { kind, apiAddress })) return { admitted: true };
  const owner = await warehouseId(warehouse);
  return withScheduleState(warehouse, connectionId, async (state, notes) => {
    const settle = async (as: typeof state): Promise<void> => {
      await notes.settled(
        await settleConnection({ temporal, owner }, { connectionId, state: as, resume: false }),
      );
    };
    if (state === undefined) {
      await settle(state);
      return { admitted: false, why: `There is no connection ${connectionId} any more.` };
    }
    if (state.apiAddress !== apiAddress) {
      return {
        admitted: false,
        why: `${connectionId} was added under the API address ${state.apiAddress}, which is not the one this worker runs with.`,
      };
    }
    if (wantedSchedule(kind, state) === undefined) {
      await settle(state);
      return { admitted: false, why: `${connectionId} has no schedule for a ${kind} any more.` };
    }
    if (state.pausedWhy === null) return { admitted: true };
    const schedule = await describeSchedule(temporal, scheduleIds.connection(kind, connectionId));
    const isPaused: TickAdmitted = { admitted: false, why: `${connectionId} is paused: ${state.pausedWhy}` };
    if (schedule === undefined || schedule.state.paused) {
      const pausedAt = state.pausedAt?.getTime() ?? 0;
      return waitsSince !== undefined && pausedAt > waitsSince ? isPaused : { admitted: true };
    }
    if (!state.pauseReachedSchedules) {
      await settle(state);
      return isPaused;
    }
    await notes.resumed(connectionId);
    await settle({ ...state, pausedWhy: null });
    return { admitted: true };
  });
}

function isAsWanted(
  state: ScheduleState,
  { kind, apiAddress }: Pick<Tick, 'kind'> & { apiAddress: string },
): boolean {
  return (
    state.apiAddress === apiAddress && state.pausedWhy === null && wantedSchedule(kind, state) !== undefined
  );
}
