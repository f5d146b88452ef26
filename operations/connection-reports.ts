import type { ConnectionStatus } from '../warehouse/connections/read-status.ts';
import type { TemporalFacts, TemporalQuestions } from './read-temporal-facts.ts';
import { isTemporalAway } from './temporal-client.ts';

export interface ConnectionReport extends ConnectionStatus {
  /** Null if no schedule runs, or Temporal is away. For several connections it is computed, without the jitter. */
  next_run_at: Date | null;
  /** Sentences about the steps that the last run keeps retrying, while it runs. */
  troubles: readonly string[];
}

export interface ConnectionReports {
  connections: ConnectionReport[];
  /** Whether Temporal answered. */
  temporalAnswered: boolean;
}

/**
 * Returns the state of connections from the warehouse, with Temporal's facts if it answers; `ask` is undefined if Temporal is known to be
 * away.
 */
export async function connectionReports(
  connections: readonly ConnectionStatus[],
  ask: ((questions: TemporalQuestions) => Promise<TemporalFacts>) | undefined,
): Promise<ConnectionReports> {
  const questions = buildQuestions(connections);
  const facts =
    questions.scheduled.length === 0 && questions.running.size === 0
      ? nothingAsked
      : await ask?.(questions).catch(unlessTemporalIsAway);
  return {
    connections: connections.map((connection) => buildReport(connection, facts ?? nothingAsked)),
    temporalAnswered: facts !== undefined,
  };
}

const nothingAsked: TemporalFacts = { schedules: new Map(), retries: new Map() };

function buildQuestions(connections: readonly ConnectionStatus[]): TemporalQuestions {
  const scheduled = connections.flatMap(({ name, every_seconds, stretch, failures }) =>
    every_seconds === null ? [] : [{ name, every_seconds, stretch, failures }],
  );
  const running = connections.flatMap(({ name, last_run: run }) =>
    run?.status === 'running' ? [{ name, run }] : [],
  );
  running.sort((one, other) => one.run.started_at.getTime() - other.run.started_at.getTime());
  return { scheduled, running: new Map(running.map(({ name, run }) => [name, run.workflow_id])) };
}

/** Returns undefined if Temporal is away; throws any other error. */
export function unlessTemporalIsAway(error: unknown): undefined {
  if (!isTemporalAway(error)) throw error;
}

function buildReport(connection: ConnectionStatus, { schedules, retries }: TemporalFacts): ConnectionReport {
  const schedule = schedules.get(connection.name);
  const report = {
    ...connection,
    next_run_at: connection.paused === null ? (schedule?.nextRunAt ?? null) : null,
    troubles: retries.get(connection.name) ?? [],
  };
  if (connection.paused !== null || schedule === undefined || schedule.pausedWhy === null) return report;
  // Paused in the Web UI, so the warehouse does not know it.
  return { ...report, paused: { why: schedule.pausedWhy, since: null }, stale: false };
}
