import { ServiceError } from '@temporalio/client';
import type { ConnectionStatus } from '../warehouse/connections/read-status.ts';
import type { TemporalFacts, TemporalQuestions } from './read-temporal-facts.ts';
import { TemporalUnavailable } from './temporal-client.ts';

export interface ConnectionReport extends ConnectionStatus {
  /** Null where no schedule runs, and where Temporal is out of reach. */
  next_run_at: Date | null;
  /** What is tried again and again for the last run, while it runs: sentences. */
  troubles: readonly string[];
}

export interface ConnectionReports {
  connections: ConnectionReport[];
  /** Whether Temporal said what it knows. */
  temporalAnswered: boolean;
}

/** The state of connections as the warehouse has it, with what Temporal adds where it is in reach. */
export async function connectionReports(
  connections: readonly ConnectionStatus[],
  ask: (questions: TemporalQuestions) => Promise<TemporalFacts>,
): Promise<ConnectionReports> {
  const questions = questionsOf(connections);
  const facts =
    questions.scheduled.length === 0 && questions.running.size === 0
      ? nothingAsked
      : await ask(questions).catch(unlessAway);
  return {
    connections: connections.map((connection) => reportOf(connection, facts ?? nothingAsked)),
    temporalAnswered: facts !== undefined,
  };
}

const nothingAsked: TemporalFacts = { schedules: new Map(), troubles: new Map() };

function questionsOf(connections: readonly ConnectionStatus[]): TemporalQuestions {
  const scheduled = connections.filter(({ every_seconds }) => every_seconds !== null);
  const running = connections.flatMap(({ name, last_run: run }) =>
    run?.status === 'running' ? [[name, run.workflow_id] as const] : [],
  );
  return { scheduled: scheduled.map(({ name }) => name), running: new Map(running) };
}

function unlessAway(error: unknown): undefined {
  if (!(error instanceof TemporalUnavailable) && !(error instanceof ServiceError)) throw error;
}

function reportOf(connection: ConnectionStatus, { schedules, troubles }: TemporalFacts): ConnectionReport {
  const schedule = schedules.get(connection.name);
  const report = {
    ...connection,
    next_run_at: schedule?.nextRunAt ?? null,
    troubles: troubles.get(connection.name) ?? [],
  };
  if (connection.paused !== null || schedule === undefined || schedule.pausedWhy === null) return report;
  // Paused in the Web UI, which the warehouse does not know of.
  return { ...report, paused: { why: schedule.pausedWhy, since: null }, stale: false };
}
