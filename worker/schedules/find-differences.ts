import {
  readScheduleStates,
  type ScheduleState,
  type SchedulesSettled,
} from '../../warehouse/connections/schedule-state.ts';
import { wantedOf, type SchedulePlaces } from '../../operations/schedules/follow-connection.ts';
import { looksAsWanted } from '../../operations/schedules/settle-schedule.ts';
import { wantedSchedule } from '../../operations/schedules/wanted-schedules.ts';
import { scheduleIds, scheduleKinds } from '../../temporal/schedule-ids.ts';
import type { ListedSchedules } from './list-schedules.ts';

export interface Differences {
  /** Connections whose schedules are to be settled: those that differ, and some that were not asked for all they are for longest. */
  readonly toSettle: readonly string[];
  /** Those of which nobody had written down what Temporal has, and which look as wanted. */
  readonly asListed: readonly Pick<SchedulesSettled, 'connectionId' | 'as'>[];
}

/** Why schedules are repaired: a worker starts, or an hour is over. */
export type Occasion = 'start' | 'hour';

/**
 * Compares what Temporal lists with what is to be, without asking it for anything more. What somebody resumed in the Web UI
 * although its connection is paused is left to fire, which resumes the connection, unless a worker starts.
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
        if (settledAs === null) asListed.push({ connectionId, as: wantedOf(state) });
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
 * A list does not tell everything of a schedule, so that somebody's change of its arguments is found by asking for it: at a start
 * of some connections, since people wait for what else a start repairs, and each hour of a twenty-fourth of them.
 */
function checkedAt(occasion: Occasion, connections: number): number {
  return occasion === 'start' ? leastChecked : Math.max(leastChecked, Math.ceil(connections / 24));
}

const leastChecked = 50;

function differs(state: ScheduleState, { ours }: ListedSchedules): boolean {
  if (state.settledAs === null ? state.backfillEvery !== null : state.settledAs !== wantedOf(state))
    return true;
  if ((state.pausedWhy !== null) !== state.pauseReachedSchedules) return true;
  return scheduleKinds.some((kind) => {
    const id = scheduleIds.connection(kind, state.connectionId);
    const [wanted, found] = [wantedSchedule(kind, state), ours.get(id)];
    if (wanted === undefined || found === undefined) return wanted !== found;
    return !looksAsWanted(found, wanted);
  });
}

/** Temporal was told of the pause, and a schedule is not paused all the same. */
function isResumed(state: ScheduleState, { ours }: ListedSchedules): boolean {
  if (state.pausedWhy === null || !state.pauseReachedSchedules) return false;
  return scheduleKinds.some(
    (kind) => ours.get(scheduleIds.connection(kind, state.connectionId))?.paused === false,
  );
}
