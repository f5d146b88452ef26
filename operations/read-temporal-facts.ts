import type { Client } from '@temporalio/client';
import { readTroubles } from './read-troubles.ts';
import { readSyncSchedules, type SyncSchedule } from './schedules/read-sync-schedules.ts';

/** What Temporal is asked of connections. */
export interface TemporalQuestions {
  /** Connections with a schedule. */
  readonly scheduled: readonly string[];
  /** Workflows that run, by connection. */
  readonly running: ReadonlyMap<string, string>;
}

/** By connection. */
export interface TemporalFacts {
  readonly schedules: ReadonlyMap<string, SyncSchedule>;
  /** What is tried again and again for what runs, in sentences. */
  readonly troubles: ReadonlyMap<string, readonly string[]>;
}

/** Throws what the client throws when Temporal is away. */
export async function readTemporalFacts(
  temporal: Client,
  { scheduled, running }: TemporalQuestions,
): Promise<TemporalFacts> {
  const schedules = await readSyncSchedules(temporal, scheduled);
  const troubles = await temporal.withDeadline(Date.now() + 5_000, () =>
    Promise.all(
      [...running].map(async ([connection, workflowId]) => {
        const handle = temporal.workflow.getHandle(workflowId);
        return [connection, await readTroubles(handle)] as const;
      }),
    ),
  );
  return { schedules, troubles: new Map(troubles) };
}
