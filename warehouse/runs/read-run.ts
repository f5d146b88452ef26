import { sql } from 'kysely';
import { streamNames } from '../../resources/index.ts';
import type { Warehouse } from '../open-warehouse.ts';
import type { MartsTarget } from '../tables/marts.ts';
import type { RunKind, RunStatus } from '../tables/runs.ts';
import { countNames } from './add-to-run.ts';

export interface RunRead {
  run_id: string;
  connection_id: string | null;
  kind: RunKind;
  status: RunStatus;
  workflow_id: string;
  temporal_run_id: string;
  reason: string;
  failure: string | null;
  /** The outcome, if the counts of streams do not show it. */
  outcome: string | null;
  /** For a build of marts. */
  target: MartsTarget | null;
  started_at: Date;
  finished_at: Date | null;
  streams: RunStreamRead[];
}

export interface RunStreamRead {
  run_id: string;
  stream: string;
  status: RunStatus | 'unsupported';
  pages: number;
  requests: number;
  read: number;
  inserted: number;
  updated: number;
  unchanged: number;
  deleted: number;
  suppressed: number;
  quarantined: number;
  watermark_before: Date | null;
  watermark_after: Date | null;
  /** For a reconcile: counts and sums per currency, of source and warehouse. Only if asked for. */
  totals?: unknown;
  failure_type: string | null;
  failure: string | null;
  started_at: Date;
  finished_at: Date | null;
}

const columnsOfStreams = [
  'run_id',
  'connection_id',
  'stream',
  'status',
  'pages',
  ...countNames,
  'unannounced',
  'watermark_before',
  'watermark_after',
  'failure_type',
  'failure',
  'started_at',
  'finished_at',
] as const;

/**
 * Reads runs, the newest first, with what they did to each stream; those older than the run `before`, and only running ones, if asked. `totals` of
 * one stream may take megabytes.
 */
export async function readRuns(
  { db }: Warehouse,
  input: {
    connectionId?: string | undefined;
    temporalRunId?: string | undefined;
    before?: string | undefined;
    running?: boolean;
    totals?: boolean;
    limit: number;
  },
): Promise<RunRead[]> {
  let query = db
    .selectFrom('sync.runs')
    .selectAll()
    .orderBy('started_at', 'desc')
    .orderBy('run_id', 'desc')
    .limit(input.limit);
  if (input.running === true) query = query.where('status', '=', 'running');
  if (input.before !== undefined) {
    // An index scan can begin at the first of the two.
    query = query
      .where(sql<boolean>`started_at <= (select started_at from sync.runs where run_id = ${input.before})`)
      .where(
        sql<boolean>`(started_at, run_id) < (select started_at, run_id from sync.runs where run_id = ${input.before})`,
      );
  }
  if (input.connectionId !== undefined) query = query.where('connection_id', '=', input.connectionId);
  const { temporalRunId } = input;
  if (temporalRunId !== undefined) {
    // A run that was continued as new has several Temporal run IDs; its row is named by the first and holds the latest.
    query = query.where(
      sql<boolean>`run_id in (
        select ${temporalRunId}
        union all
        select run_id from sync.runs where temporal_run_id = ${temporalRunId} and temporal_run_id <> run_id
      )`,
    );
  }
  const runs = await query.execute();
  if (runs.length === 0) return [];
  const streams = await db
    .selectFrom('sync.run_streams')
    .select(columnsOfStreams)
    .$if(input.totals === true, (all) => all.select('totals'))
    .where(
      'run_id',
      'in',
      runs.map(({ run_id }) => run_id),
    )
    .execute();
  return runs.map((run) => ({
    ...run,
    streams: streams
      .filter(({ run_id }) => run_id === run.run_id)
      .sort((a, b) => streamNames.indexOf(a.stream) - streamNames.indexOf(b.stream)),
  }));
}
