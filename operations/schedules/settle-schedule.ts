import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import {
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
  type Client,
  type ScheduleDescription,
  type ScheduleOptions,
  type ScheduleSummary,
  type ScheduleUpdateOptions,
} from '@temporalio/client';
import { readScheduleMemo, type ScheduleMemo } from '../../temporal/schedule-memo.ts';
import { scheduledWorkflowTypes } from '../../temporal/start-request.ts';
import { mainQueue } from '../../temporal/task-queues.ts';
import { stateAfter, type ScheduleRunState } from './schedule-run-state.ts';
import type { WantedSchedule } from './wanted-schedules.ts';

/** Somebody has created a schedule with our name for another purpose or warehouse. It stays unchanged. */
export class ForeignSchedule extends Error {
  override readonly name = 'ForeignSchedule';
  readonly handling = 'stop';

  constructor(id: string, maker: string | undefined) {
    super(
      `Temporal has a schedule "${id}" that ${maker === undefined ? 'Daybook did not make' : `the warehouse ${maker} made`}. ` +
        'Delete it, then run the command again or restart a worker.',
    );
  }
}

/**
 * Creates, changes or deletes a schedule so that it is as wanted; does nothing if it already is. `resume` lifts any pause, whoever made it.
 * `unlisted`: Temporal did not list it a moment ago, so it is not read again. Returns how many times the schedule was due and did not fire since
 * its creation. Throws ForeignSchedule.
 */
export async function settleSchedule(
  { temporal, owner }: { temporal: Client; owner: string },
  input: { id: string; wanted: WantedSchedule | undefined; resume: boolean; unlisted?: boolean },
): Promise<number> {
  const { id, wanted, resume, unlisted = false } = input;
  if (unlisted && wanted === undefined) return 0;
  if (unlisted && wanted !== undefined && (await isCreated(temporal, asNew(id, owner, wanted)))) return 0;
  const handle = temporal.schedule.getHandle(id);
  const found = await describeSchedule(temporal, id);
  const maker = readScheduleMemo(found?.memo)?.daybook;
  const isOurs = maker === owner;
  if (wanted === undefined) {
    if (isOurs) await handle.delete();
    return 0;
  }
  if (found === undefined) {
    await temporal.schedule.create(asNew(id, owner, wanted));
  } else if (!isOurs) {
    // A takeover of the namespace deletes the previous owner's schedules (`deleteReplacedSchedules`).
    throw new ForeignSchedule(id, maker);
  } else if (
    !isDeepStrictEqual(
      comparableFacts(found),
      comparableFacts(asWanted(wanted, stateAfter(found.state, wanted, resume))),
    )
  ) {
    await handle.update((now) => asWanted(wanted, stateAfter(now.state, wanted, resume)));
  }
  return found?.info.numActionsMissedCatchupWindow ?? 0;
}

/** Returns a digest of wanted schedules, equal for equal ones. */
export function digestSchedules(wanted: readonly (WantedSchedule | undefined)[]): string {
  const told = wanted.map((one) => one && asWanted(one, stateAfter({ paused: false }, one, false)));
  return createHash('sha256').update(JSON.stringify(told)).digest('hex');
}

/** Whether a listed schedule is as wanted. Policies and arguments are not in the list. */
export function looksAsWanted(listed: ListedSchedule, wanted: WantedSchedule): boolean {
  const { paused, note } = stateAfter(listed, wanted, false);
  return isDeepStrictEqual(listed, {
    every: wanted.every,
    offset: wanted.offset,
    jitter: wanted.jitter,
    others: 0,
    workflowType: scheduledWorkflowTypes.tick,
    paused,
    note,
  });
}

/** The facts in Temporal's list of schedules. */
export interface ListedSchedule {
  readonly every: number | undefined;
  readonly offset: number | undefined;
  readonly jitter: number | undefined;
  /** Further intervals at which it fires. */
  readonly others: number;
  readonly workflowType: string | undefined;
  readonly paused: boolean;
  readonly note: string;
}

export function asListed({ spec, action, state }: ScheduleSummary): ListedSchedule {
  const [interval, ...others] = spec?.intervals ?? [];
  return {
    every: interval?.every,
    offset: interval?.offset,
    jitter: spec?.jitter,
    others: others.length + (spec?.calendars?.length ?? 0),
    workflowType: action?.workflowType,
    paused: state.paused,
    note: state.note ?? '',
  };
}

/** Returns false if a schedule of that name exists. */
async function isCreated(temporal: Client, schedule: ScheduleOptions): Promise<boolean> {
  try {
    await temporal.schedule.create(schedule);
    return true;
  } catch (error) {
    if (error instanceof ScheduleAlreadyRunning) return false;
    throw error;
  }
}

/** Undefined if there is none. */
export async function describeSchedule(
  temporal: Client,
  id: string,
): Promise<ScheduleDescription | undefined> {
  try {
    return await temporal.schedule.getHandle(id).describe();
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return undefined;
    throw error;
  }
}

function asNew(id: string, owner: string, wanted: WantedSchedule): ScheduleOptions {
  const memo: ScheduleMemo = {
    daybook: owner,
    ...('connection' in wanted.input ? { connection: wanted.input.connection } : {}),
  };
  return {
    ...asWanted(wanted, stateAfter({ paused: false }, wanted, false)),
    scheduleId: id,
    memo: { ...memo },
  };
}

/**
 * No retry policy and no continue-as-new: a schedule whose workflow has several runs can get stuck forever if somebody starts one of them again
 * by hand (Temporal issue 10579).
 */
function asWanted(
  wanted: WantedSchedule,
  state: ScheduleRunState,
): ScheduleUpdateOptions & { state: ScheduleRunState } {
  return {
    spec: { intervals: [{ every: wanted.every, offset: wanted.offset }], jitter: wanted.jitter },
    policies: {
      overlap: ScheduleOverlapPolicy.SKIP,
      catchupWindow: wanted.catchupWindow,
      pauseOnFailure: false,
    },
    action: {
      type: 'startWorkflow',
      workflowType: scheduledWorkflowTypes.tick,
      workflowId: wanted.workflowId,
      taskQueue: mainQueue,
      args: [wanted.input],
      staticSummary: wanted.summary,
    },
    state,
  };
}

/** The facts by which two schedules are equal, whether described or wanted. */
function comparableFacts({ spec, policies, action, state }: Comparable): unknown {
  const [interval, ...others] = spec.intervals ?? [];
  return {
    every: interval?.every,
    offset: interval?.offset,
    jitter: spec.jitter,
    others: others.length + (spec.calendars?.length ?? 0),
    ...policies,
    workflowType: action.workflowType,
    workflowId: action.workflowId,
    taskQueue: action.taskQueue,
    args: action.args,
    summary: action.staticSummary,
    paused: state.paused,
    note: state.note ?? '',
  };
}

/** The client has two sets of types for the same data: durations come back as numbers. */
interface Comparable {
  spec: {
    intervals?: readonly { every: unknown; offset?: unknown }[];
    calendars?: readonly unknown[];
    jitter?: unknown;
  };
  policies?: object;
  action: Record<'workflowType' | 'taskQueue', unknown> &
    Partial<Record<'workflowId' | 'args' | 'staticSummary', unknown>>;
  state: { paused: boolean; note?: string };
}
