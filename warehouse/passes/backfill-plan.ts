import { microsecondsOf } from '../../resources/instant.ts';
import { resources as allResources } from '../../resources/index.ts';

/** The records that a backfill reads: those with `updated_at` at or after `from` and before `to`, window by window. */
export interface BackfillPlan {
  /** Name under which its windows are stored, so that the same backfill, requested again, finds what is left of it. */
  readonly name: string;
  /** ISO 8601, UTC, to the millisecond: the API's filters are no finer. */
  readonly from: string;
  readonly to: string;
  readonly windowMilliseconds: number;
  readonly windows: number;
  readonly streams: readonly string[];
}

/** Thrown for input that people typed, on the command line or in the Web UI. */
export class InvalidBackfill extends Error {
  override readonly name = 'InvalidBackfill';
  readonly handling = 'stop';
}

/** Plans a backfill. `resources` are names that exist; empty: all. Throws InvalidBackfill. */
export function backfillPlan(asked: {
  from: string;
  to: string;
  windowMilliseconds?: number | undefined;
  resources?: readonly string[];
}): BackfillPlan {
  const { windowMilliseconds = defaultWindow, resources = [] } = asked;
  const from = Math.floor(requireInstant('from', asked.from) / 1000);
  const to = Math.ceil(requireInstant('to', asked.to) / 1000);
  if (from >= to)
    throw new InvalidBackfill(
      `A backfill from ${asked.from} to ${asked.to} would be empty: from must lie before to.`,
    );
  if (!isWindow(windowMilliseconds))
    throw new InvalidBackfill(
      'A window of a backfill must be a whole number of milliseconds, from an hour to 100 years.',
    );
  const windows = Math.ceil((to - from) / windowMilliseconds);
  if (windows > maximumWindows)
    throw new InvalidBackfill(
      `That would be ${windows} windows for each list, and ${maximumWindows} is the most: take longer ones.`,
    );
  const chosen = allResources.filter(({ name }) => resources.length === 0 || resources.includes(name));
  const [first, last] = [new Date(from).toISOString(), new Date(to).toISOString()];
  const only = chosen.length === allResources.length ? [] : [chosen.map(({ name }) => name).join('+')];
  return {
    name: [first, last, `${windowMilliseconds}ms`, ...only].join('_'),
    from: first,
    to: last,
    windowMilliseconds,
    windows,
    streams: chosen.flatMap(({ streams }) => streams.map(({ name }) => name)),
  };
}

function isWindow(milliseconds: number): boolean {
  return Number.isInteger(milliseconds) && milliseconds >= shortestWindow && milliseconds <= longestWindow;
}

const hour = 3_600_000;
export const shortestWindow: number = hour;
/** A century. */
export const longestWindow: number = 36_525 * 24 * hour;
const defaultWindow = 30 * 24 * hour;
/** A year by the hour. Each window is a row and at least one request. */
const maximumWindows = 10_000;

function requireInstant(name: 'from' | 'to', text: string): number {
  const microseconds = microsecondsOf(text);
  if (microseconds === undefined)
    throw new InvalidBackfill(
      `"${text}" cannot be the ${name} of a backfill: write a day (2024-01-31) or a time (2024-01-31T12:00:00Z).`,
    );
  return microseconds;
}
