import { createHash } from 'node:crypto';
import type { ScheduledStartInput } from '../../activities/start-scheduled.ts';
import type { ScheduleState } from '../../warehouse/connections/schedule-state.ts';
import { scheduledWorkflowId, scheduleIds, type ScheduleKind } from '../../temporal/schedule-ids.ts';
import { formatDuration } from '../../config/duration.ts';
import { runNames } from '../run-names.ts';

/** A schedule as Temporal should have it. Times in milliseconds. */
export interface WantedSchedule {
  readonly every: number;
  /** Spreads connections over the interval; otherwise all would begin at the same minute. */
  readonly offset: number;
  readonly jitter: number;
  /** Older missed ticks are skipped, so that at most one is made up for. */
  readonly catchupWindow: number;
  readonly summary: string;
  /** The ID of the workflow it starts; the server appends the time. */
  readonly workflowId: string;
  readonly input: ScheduledStartInput;
  /** Null: not paused. */
  readonly pausedWhy: string | null;
  /** Why it runs less often than configured; empty: it does not. */
  readonly slowedWhy: string;
}

/** The schedule that the database wants; undefined: none. */
export function wantedSchedule(
  kind: ScheduleKind,
  state: ScheduleState | undefined,
): WantedSchedule | undefined {
  if (state === undefined) return undefined;
  const { connectionId: connection, failures, pausedWhy, backfillLast, syncStretch } = state;
  const set = { sync: state.syncEvery, reconcile: state.reconcileEvery, backfill: state.backfillEvery }[kind];
  if (set === null || (kind === 'backfill' && backfillLast === null)) return undefined;
  const usual = kind === 'sync' ? stretched(set, syncStretch) : set;
  const every = kind === 'sync' ? slowedDown(usual, failures) : usual;
  const id = scheduleIds.connection(kind, connection);
  return {
    every,
    offset: offsetOf(id, every),
    jitter: Math.floor(Math.min(every / 10, 5 * minute)),
    catchupWindow: Math.max(every, 10 * second),
    summary: `${runNames[kind]} of ${connection}, scheduled`,
    workflowId: scheduledWorkflowId(id),
    input: {
      kind,
      connection,
      ...(kind === 'backfill' && backfillLast !== null ? { last: backfillLast } : {}),
    },
    pausedWhy,
    slowedWhy: [
      ...(usual === set
        ? []
        : [
            `every ${formatDuration(usual)} instead of ${formatDuration(set)}: the API budget is too small for all`,
          ]),
      ...(every === usual
        ? []
        : [
            `every ${formatDuration(every)} instead of ${formatDuration(usual)} after ${failures} failed in a row; the first that gets through ends this`,
          ]),
    ].join('; '),
  };
}

/**
 * Returns the time of the next scheduled sync, unless it is paused: the next multiple of its interval since 1970, plus its offset, as in
 * Temporal. The sync begins up to `jitter` later. Times in milliseconds.
 */
export function nextSyncAt(
  connection: string,
  state: { every: number; stretch: number; failures: number },
  now: Date,
): Date {
  const every = slowedDown(stretched(state.every, state.stretch), state.failures);
  const offset = offsetOf(scheduleIds.connection('sync', connection), every);
  return new Date((Math.floor((now.getTime() - offset) / every) + 1) * every + offset);
}

/** Rounds to whole seconds: the server has no finer resolution. */
function stretched(every: number, stretch: number): number {
  return stretch === 1 ? every : Math.ceil((every * stretch) / second) * second;
}

/** Doubles the interval after every failure, up to 6 h: a source that is broken for days is not asked every minute. */
function slowedDown(every: number, failures: number): number {
  return Math.min(every * 2 ** failures, Math.max(every, 6 * hour));
}

/** Rounds to whole seconds: the server has no finer resolution. */
function offsetOf(id: string, every: number): number {
  const seconds = Math.max(1, Math.floor(every / second));
  return (createHash('sha256').update(id).digest().readUInt32BE() % seconds) * second;
}

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
