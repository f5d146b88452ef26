import type { Warehouse } from '../open-warehouse.ts';

/**
 * Returns the run that a workflow execution works for now: the given one, or the execution's own if that has interrupted the given one. A reset
 * continues with activities that were scheduled for the earlier run.
 */
export async function runOfExecution(
  { db }: Pick<Warehouse, 'db'>,
  { runId, temporalRunId }: { runId: string; temporalRunId: string },
): Promise<string> {
  const own = await db
    .selectFrom('sync.runs as given')
    .innerJoin('sync.runs as own', (join) =>
      join
        .onRef('own.connection_id', '=', 'given.connection_id')
        .onRef('own.kind', '=', 'given.kind')
        .on('own.status', '=', 'running'),
    )
    .select('own.run_id')
    .where('given.run_id', '=', runId)
    .where('given.status', '=', 'interrupted')
    .where('own.temporal_run_id', '=', temporalRunId)
    .executeTakeFirst();
  return own?.run_id ?? runId;
}
