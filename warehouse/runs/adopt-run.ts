import type { Warehouse } from '../open-warehouse.ts';

/**
 * Lets a sync continue the run that the tick of a schedule has begun. One workflow run can adopt it, any number of times; one with a copy of its
 * input, or after a reset, cannot. Undefined if it cannot; otherwise whether pages were read before. Streams that the tick left `interrupted` are
 * continued.
 */
export async function adoptRun(
  { pool }: Pick<Warehouse, 'pool'>,
  run: { runId: string; connectionId: string; workflowId: string; temporalRunId: string },
): Promise<{ hasRead: boolean } | undefined> {
  const { rows } = await pool.query<{ has_read: boolean }>({
    name: 'adopt run',
    text: `
      with adopted as (
        update sync.runs r set workflow_id = $3, temporal_run_id = $4, status = 'running', finished_at = null
        where r.run_id = $1 and r.connection_id = $2 and r.kind = 'sync' and r.status in ('running', 'interrupted')
          and (r.workflow_id <> $3 or r.temporal_run_id = $4)
        returning run_id
      ), reopened as (
        update sync.run_streams s set status = 'running', finished_at = null
        from adopted
        where s.run_id = adopted.run_id and s.status = 'interrupted'
      )
      select exists (select from sync.run_streams s where s.run_id = adopted.run_id and s.pages > 0) as has_read
      from adopted`,
    values: [run.runId, run.connectionId, run.workflowId, run.temporalRunId],
  });
  const [adopted] = rows;
  return adopted === undefined ? undefined : { hasRead: adopted.has_read };
}
