import type { Client } from '@temporalio/client';
import { readTroubles } from './read-troubles.ts';
import { pausedSchedules } from './schedules/paused-schedules.ts';
import { readSyncSchedule, type SyncSchedule } from './schedules/read-sync-schedule.ts';
import { nextSyncAt } from './schedules/wanted-schedules.ts';

/** What Temporal is asked of connections. */
export interface TemporalQuestions {
  /** Connections with a schedule. */
  readonly scheduled: readonly {
    readonly name: string;
    readonly every_seconds: number;
    readonly stretch: number;
    readonly failures: number;
  }[];
  /** Workflows that run, by connection, those that run longest first. */
  readonly running: ReadonlyMap<string, string>;
}

/** By connection. */
export interface TemporalFacts {
  readonly schedules: ReadonlyMap<string, SyncSchedule>;
  /** What is tried again and again for what runs, in sentences. */
  readonly troubles: ReadonlyMap<string, readonly string[]>;
}

/**
 * Of one connection what Temporal says of its schedule. Of several only which are paused is asked, by one list, and when each
 * runs next is computed: to describe thousands of schedules takes minutes, and the workers' share of the namespace.
 * Throws what the client throws when Temporal is away.
 */
export async function readTemporalFacts(
  temporal: Client,
  { scheduled, running }: TemporalQuestions,
): Promise<TemporalFacts> {
  const schedules = await readSchedules(temporal, scheduled);
  const troubles = await temporal.withDeadline(Date.now() + 5_000, () =>
    Promise.all(
      [...running].slice(0, mostDescribed).map(async ([connection, workflowId]) => {
        const handle = temporal.workflow.getHandle(workflowId);
        return [connection, await readTroubles(handle)] as const;
      }),
    ),
  );
  return { schedules, troubles: new Map(troubles) };
}

/** Runs of a fleet that is well take a second or two: those that have troubles are among those that run longest. */
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
