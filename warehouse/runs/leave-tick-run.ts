import type { Warehouse } from '../open-warehouse.ts';

/** Closes the run of a tick that gave way to another sync. A run that a workflow continues stays as it is. */
export async function leaveTickRun(
  { pool }: Pick<Warehouse, 'pool'>,
  { runId, workflowId }: { runId: string; workflowId: string },
): Promise<void> {
  await pool.query({
    name: 'leave tick run',
    text: `
      with run as materialized (
        select run_id from sync.runs
        where run_id = $1 and workflow_id = $2 and status in ('running', 'interrupted')
        for update
      ), closed as (
        update sync.runs r set status = 'interrupted', finished_at = clock_timestamp()
        from run
        where r.run_id = run.run_id and r.status = 'running'
      )
      update sync.run_streams s set status = 'interrupted', finished_at = clock_timestamp()
      from run
      where s.run_id = run.run_id and s.status = 'running'`,
    values: [runId, workflowId],
  });
}
