import type { SourceOperation } from './source-operation.ts';
import { judgeSyncs } from './judge-syncs.ts';
import { connections, type DayEnvironment } from './open-day-environment.ts';

/** Judges that each run that reports success has read everything, and brought all changes from before it began. */
export async function judgeRuns(
  environment: DayEnvironment,
  operations: readonly SourceOperation[],
): Promise<string[]> {
  const runs = await readRuns(environment);
  const complaints = runs.flatMap(findRunProblems);
  const completed = await findWorkflows(environment, 'Completed');
  // The workflow that applies webhooks continues as a new execution after each run.
  const continued = await findWorkflows(environment, 'ContinuedAsNew');
  for (const run of runs) {
    const { run_id, kind, status, temporal_run_id } = run;
    const inTemporal = completed.has(temporal_run_id);
    const continuedInTemporal = kind === 'webhook' && continued.has(temporal_run_id);
    if (status === 'succeeded' && !inTemporal && !continuedInTemporal)
      complaints.push(`The ${kind} ${run_id} succeeded in the warehouse, but not in Temporal.`);
    // Webhooks whose records could not be fetched wait for another execution.
    if (
      inTemporal &&
      !yieldedToOtherSync(run, runs) &&
      kind !== 'webhook' &&
      status !== 'succeeded' &&
      status !== 'partial'
    )
      complaints.push(`The ${kind} ${run_id} is ${status} in the warehouse, but completed in Temporal.`);
  }
  for (const connection of connections) {
    const syncs = runs.filter((run) => run.connection_id === connection && run.kind === 'sync');
    complaints.push(...(await judgeSyncs(environment, { connection, syncs, operations })));
  }
  return complaints;
}

/** Whether a tick ended because another sync was running, which did the rest. */
function yieldedToOtherSync(
  { connection_id, workflow_id, status, started }: RunRow,
  runs: readonly RunRow[],
): boolean {
  return (
    status === 'interrupted' &&
    workflow_id.startsWith('scheduled/') &&
    runs.some(
      (run) => run.connection_id === connection_id && run.kind === 'sync' && (run.finished ?? 0) > started,
    )
  );
}

interface RunRow {
  run_id: string;
  workflow_id: string;
  connection_id: string;
  kind: string;
  status: string;
  temporal_run_id: string;
  started: number;
  finished: number | null;
  streams: string[];
}

async function readRuns({ warehouse }: DayEnvironment): Promise<RunRow[]> {
  const { rows } = await warehouse.pool.query<RunRow>(
    `select r.run_id, r.workflow_id, r.connection_id, r.kind, r.status, r.temporal_run_id,
       (extract(epoch from r.started_at) * 1000)::float8 as started,
       (extract(epoch from r.finished_at) * 1000)::float8 as finished,
       array(select s.status from sync.run_streams s where s.run_id = r.run_id) as streams
     from sync.runs r
     order by r.started_at`,
  );
  return rows;
}

function findRunProblems({ run_id, kind, status, finished, streams }: RunRow): string[] {
  if (status === 'running' || finished === null)
    return [`The ${kind} ${run_id} is still ${status} and has not finished.`];
  const worse = streams.filter((stream) => stream !== 'succeeded' && stream !== 'unsupported');
  if (status === 'succeeded' && (streams.length === 0 || worse.length > 0))
    return [`The ${kind} ${run_id} succeeded, but its streams are: ${streams.join(', ')}.`];
  return [];
}

async function findWorkflows({ client }: DayEnvironment, ended: string): Promise<Set<string>> {
  const found = new Set<string>();
  for await (const { runId } of client.workflow.list({ query: `ExecutionStatus = '${ended}'` }))
    found.add(runId);
  return found;
}
