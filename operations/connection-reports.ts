import type { ConnectionStatus } from '../warehouse/connections/read-status.ts';
import type { TemporalFacts, TemporalQuestions } from './read-temporal-facts.ts';
import { isTemporalAway } from './temporal-client.ts';

export interface ConnectionReport extends ConnectionStatus {
  /** Null where no schedule runs, and where Temporal is out of reach. Of several connections it is computed, without the jitter. */
  next_run_at: Date | null;
  /** What is tried again and again for the last run, while it runs: sentences. */
  troubles: readonly string[];
}

export interface ConnectionReports {
  connections: ConnectionReport[];
  /** Whether Temporal said what it knows. */
  temporalAnswered: boolean;
}

/**
 * The state of connections as the warehouse has it, with what Temporal adds where it is in reach; `ask` is undefined when it is
 * known not to be.
 */
export async function connectionReports(
  connections: readonly ConnectionStatus[],
  ask: ((questions: TemporalQuestions) => Promise<TemporalFacts>) | undefined,
): Promise<ConnectionReports> {
  const questions = questionsOf(connections);
  const facts =
    questions.scheduled.length === 0 && questions.running.size === 0
      ? nothingAsked
      : await ask?.(questions).catch(unlessTemporalIsAway);
  return {
    connections: connections.map((connection) => reportOf(connection, facts ?? nothingAsked)),
    temporalAnswered: facts !== undefined,
  };
}

const nothingAsked: TemporalFacts = { schedules: new Map(), troubles: new Map() };

function questionsOf(connections: readonly ConnectionStatus[]): TemporalQuestions {
  const scheduled = connections.flatMap(({ name, every_seconds, stretch, failures }) =>
    every_seconds === null ? [] : [{ name, every_seconds, stretch, failures }],
  );
  const running = connections.flatMap(({ name, last_run: run }) =>
    run?.status === 'running' ? [{ name, run }] : [],
  );
  running.sort((one, other) => one.run.started_at.getTime() - other.run.started_at.getTime());
  return { scheduled, running: new Map(running.map(({ name, run }) => [name, run.workflow_id])) };
}

/** What is not known while Temporal is away is undefined; any other error is thrown. */
export function unlessTemporalIsAway(error: unknown): undefined {
  if (!isTemporalAway(error)) throw error;
}

function reportOf(connection: ConnectionStatus, { schedules, troubles }: TemporalFacts): ConnectionReport {
  const schedule = schedules.get(connection.name);
  const report = {
    ...connection,
    next_run_at: connection.paused === null ? (schedule?.nextRunAt ?? null) : null,
    troubles: troubles.get(connection.name) ?? [],
  };
  if (connection.paused !== null || schedule === undefined || schedule.pausedWhy === null) return report;
  // Paused in the Web UI, which the warehouse does not know of.
  return { ...report, paused: { why: schedule.pausedWhy, since: null }, stale: false };
}
