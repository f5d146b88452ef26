import { isDeepStrictEqual } from 'node:util';
import {
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
  type Client,
  type ScheduleDescription,
  type ScheduleOptions,
  type ScheduleUpdateOptions,
} from '@temporalio/client';
import { mainQueue } from '../../temporal/task-queues.ts';
import { stateAfter, type ScheduleRunState } from './schedule-run-state.ts';
import type { WantedSchedule } from './wanted-schedules.ts';

/** Somebody has made a schedule of our name for something else, or for another warehouse. It is left as it is. */
export class ForeignSchedule extends Error {
  override readonly name = 'ForeignSchedule';
  readonly handling = 'stop';

  constructor(id: string, maker: unknown) {
    super(
      `Temporal has a schedule "${id}" that ${typeof maker === 'string' ? `the warehouse ${maker} made` : 'Daybook did not make'}. ` +
        'Delete it, then run the command again or restart a worker.',
    );
  }
}

/**
 * Creates, changes or deletes a schedule so that it is as wanted, and touches nothing that is already. `resume` lifts a pause
 * whoever made it. Throws ForeignSchedule.
 */
export async function settleSchedule(
  { temporal, owner }: { temporal: Client; owner: string },
  input: { id: string; wanted: WantedSchedule | undefined; resume: boolean },
): Promise<void> {
  const { id, wanted, resume } = input;
  const handle = temporal.schedule.getHandle(id);
  const found = await describeSchedule(temporal, id);
  const isOurs = found?.memo?.daybook === owner;
  if (wanted === undefined) {
    if (isOurs) await handle.delete();
    return;
  }
  if (found === undefined) {
    await temporal.schedule.create(asNew(id, owner, wanted));
  } else if (!isOurs) {
    // Who took over a namespace has deleted what the owner before it had (`deleteReplacedSchedules`).
    throw new ForeignSchedule(id, found.memo?.daybook);
  } else if (
    !isDeepStrictEqual(factsOf(found), factsOf(asWanted(wanted, stateAfter(found.state, wanted, resume))))
  ) {
    await handle.update((now) => asWanted(wanted, stateAfter(now.state, wanted, resume)));
  }
}

/** Undefined when there is none. */
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
  return {
    ...asWanted(wanted, stateAfter({ paused: false }, wanted, false)),
    scheduleId: id,
    memo: {
      daybook: owner,
      ...('connection' in wanted.input ? { connection: wanted.input.connection } : {}),
    },
  };
}

/**
 * No retry policy and nothing that goes on as new: a schedule whose workflow has several runs can get stuck for ever when
 * somebody starts one of them again by hand (Temporal issue 10579).
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
      workflowType: 'scheduledStart',
      workflowId: wanted.workflowId,
      taskQueue: mainQueue,
      args: [wanted.input],
      staticSummary: wanted.summary,
    },
    state,
  };
}

/** What makes two schedules the same, whether described or wanted. */
function factsOf({ spec, policies, action, state }: Comparable): unknown {
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

/** The client has two sets of types for one thing: numbers come back where durations are given. */
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
