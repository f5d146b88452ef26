import {
  readScheduleStates,
  type ScheduleState,
  type SchedulesSettled,
} from '../../warehouse/connections/schedule-state.ts';
import { wantedDigest, type SchedulePlaces } from '../../operations/schedules/update-schedules.ts';
import { looksAsWanted } from '../../operations/schedules/settle-schedule.ts';
import { wantedSchedule } from '../../operations/schedules/wanted-schedules.ts';
import { scheduleIds, scheduleKinds } from '../../temporal/schedule-ids.ts';
import type { ListedSchedules } from './list-schedules.ts';

export interface Differences {
  /** Connections whose schedules have to be settled: those that differ, and those whose full description was checked longest ago. */
  readonly toSettle: readonly string[];
  /** Connections that look as wanted, but for which no settled state of Temporal was recorded yet. */
  readonly asListed: readonly Pick<SchedulesSettled, 'connectionId' | 'as'>[];
}

/** The reason for a repair: a worker starts, or an hour has passed. */
export type Occasion = 'start' | 'hour';

/**
 * Compares Temporal's list with the wanted schedules, without further requests. A schedule that was resumed in the Web UI although
 * its connection is paused is left to fire, which resumes the connection; only a starting worker pauses it again.
 */
export async function findDifferences(
  { warehouse, apiAddress }: Pick<SchedulePlaces, 'warehouse'> & { apiAddress: string },
  { listed, occasion }: { listed: ListedSchedules; occasion: Occasion },
): Promise<Differences> {
  const gone = new Set(listed.connections);
  const differing: string[] = [];
  const asListed: { connectionId: string; as: string }[] = [];
  const alike: { connectionId: string; checkedAt: number }[] = [];
  let after = '';
  for (;;) {
    const states = await readScheduleStates(warehouse, { after, limit: pageLength });
    for (const state of states) {
      const { connectionId, checkedAt, settledAs } = state;
      gone.delete(connectionId);
      if (state.apiAddress !== apiAddress || (occasion === 'hour' && isResumed(state, listed))) continue;
      if (differs(state, listed)) differing.push(connectionId);
      else {
        alike.push({ connectionId, checkedAt: checkedAt?.getTime() ?? 0 });
        if (settledAs === null) asListed.push({ connectionId, as: wantedDigest(state) });
      }
    }
    const last = states.at(-1);
    if (last === undefined) break;
    after = last.connectionId;
  }
  alike.sort((one, other) => one.checkedAt - other.checkedAt);
  const checked = alike.slice(0, checkedAt(occasion, alike.length)).map(({ connectionId }) => connectionId);
  return { toSettle: [...differing, ...gone, ...checked], asListed };
}

const pageLength = 500;

/**
 * Returns how many schedules to describe in full, since a list does not show everything, such as changed arguments: a few at a start,
 * because people wait for the other repairs of a start, and a twenty-fourth of the connections each hour.
 */
function checkedAt(occasion: Occasion, connections: number): number {
  return occasion === 'start' ? leastChecked : Math.max(leastChecked, Math.ceil(connections / 24));
}

const leastChecked = 50;

function differs(state: ScheduleState, { ours }: ListedSchedules): boolean {
  if (state.settledAs === null ? state.backfillEvery !== null : state.settledAs !== wantedDigest(state))
    return true;
  if ((state.pausedWhy !== null) !== state.pauseReachedSchedules) return true;
  return scheduleKinds.some((kind) => {
    const id = scheduleIds.connection(kind, state.connectionId);
    const [wanted, found] = [wantedSchedule(kind, state), ours.get(id)];
    if (wanted === undefined || found === undefined) return wanted !== found;
    return !looksAsWanted(found, wanted);
  });
}

/** True if a schedule is not paused although Temporal was told to pause it. */
function isResumed(state: ScheduleState, { ours }: ListedSchedules): boolean {
  if (state.pausedWhy === null || !state.pauseReachedSchedules) return false;
  return scheduleKinds.some(
    (kind) => ours.get(scheduleIds.connection(kind, state.connectionId))?.paused === false,
  );
}
