import type { Client } from '@temporalio/client';
import { readRetries } from './read-retries.ts';
import { pausedSchedules } from './schedules/paused-schedules.ts';
import { readSyncSchedule, type SyncSchedule } from './schedules/read-sync-schedule.ts';
import { nextSyncAt } from './schedules/wanted-schedules.ts';

/** The questions to Temporal about connections. */
export interface TemporalQuestions {
  /** Connections with a schedule. */
  readonly scheduled: readonly {
    readonly name: string;
    readonly every_seconds: number;
    readonly stretch: number;
    readonly failures: number;
  }[];
  /** Running workflows, by connection, the longest-running first. */
  readonly running: ReadonlyMap<string, string>;
}

/** Temporal's facts, by connection. */
export interface TemporalFacts {
  readonly schedules: ReadonlyMap<string, SyncSchedule>;
  /** Sentences about the steps that running workflows keep retrying. */
  readonly retries: ReadonlyMap<string, readonly string[]>;
}

/**
 * Reads Temporal's facts about connections. For one connection it reads the schedule. For several it lists only the paused ones, and the next
 * run is computed: describing thousands of schedules takes minutes, and the workers' share of the namespace. Throws the errors of the client if
 * Temporal is away.
 */
export async function readTemporalFacts(
  temporal: Client,
  { scheduled, running }: TemporalQuestions,
): Promise<TemporalFacts> {
  const schedules = await readSchedules(temporal, scheduled);
  const retries = await temporal.withDeadline(Date.now() + 5_000, () =>
    Promise.all(
      [...running].slice(0, mostDescribed).map(async ([connection, workflowId]) => {
        const handle = temporal.workflow.getHandle(workflowId);
        return [connection, await readRetries(handle)] as const;
      }),
    ),
  );
  return { schedules, retries: new Map(retries) };
}

/** Runs of a healthy fleet take a second or two, so runs with retries are among the longest-running ones. */
const mostDescribed = 25;

async function readSchedules(
  temporal: Client,
  scheduled: TemporalQuestions['scheduled'],
): Promise<Map<string, SyncSchedule>> {
  const [first, second] = scheduled;
  if (first === undefined) return new Map();
  if (second === undefined) {
    const schedule = await readSyncSchedule(temporal, first.name);
    return new Map(schedule === undefined ? [] : [[first.name, schedule]]);
  }
  const [paused, now] = [await pausedSchedules(temporal), new Date()];
  return new Map(
    scheduled.map(({ name, every_seconds: seconds, stretch, failures }) => {
      const pausedWhy = paused.get(name) ?? null;
      const next = nextSyncAt(name, { every: seconds * 1_000, stretch, failures }, now);
      return [name, { nextRunAt: pausedWhy === null ? next : null, pausedWhy }];
    }),
  );
}
