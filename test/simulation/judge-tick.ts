import type { Company } from './company.ts';
import { InvariantViolation } from './invariant-checker.ts';

/** Judges that, after a tick and all that continued its run, no run is still marked as running, whatever happened to the tick. */
export async function judgeTick({ harness, connection }: Company, runId: string): Promise<void> {
  const { rows } = await harness.watcher.query<{ workflow_id: string }>(
    `select workflow_id from sync.runs where connection_id = $1 and run_id = $2 and status = 'running'`,
    [connection, runId],
  );
  for (const { workflow_id: workflow } of rows)
    throw new InvariantViolation(
      `The run of a tick is open, and nobody works on it; ${workflow} had it last.`,
    );
}
