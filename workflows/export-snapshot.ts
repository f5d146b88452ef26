import { CancellationScope, isCancellation, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { Exported } from '../activities/export/export-job.ts';
import { failureOf } from './failure-of.ts';
import { bookkeeping, exporting } from './proxies.ts';

/** One JSON object, so that "Start Workflow Like This One" in the Web UI repeats it. */
export interface ExportSnapshotInput {
  /** Who or what asked; shown in the run's row. */
  reason?: string;
  /** Publishes one although nothing has changed since the last one. */
  force?: boolean;
  /** Shows it in Iceberg tables too. */
  iceberg?: boolean;
}

/**
 * Publishes one consistent snapshot of all tables, or reports that nothing has changed since the last one, which is undamaged. The marts follow in
 * a workflow of their own: an export is done once its snapshot is published.
 */
export async function exportSnapshot(input: ExportSnapshotInput | null = {}): Promise<Exported> {
  const { reason = 'Temporal', force = false, iceberg = false } = input ?? {};
  const exported = await publish(
    { runId: workflowInfo().runId, reason },
    { force, ...(iceberg && { iceberg }) },
  );
  await bookkeeping.requestMarts({ exported, reason });
  return exported;
}

async function publish(
  run: { runId: string; reason: string },
  how: { force: boolean; iceberg?: boolean },
): Promise<Exported> {
  await bookkeeping.beginExport(run);
  setCurrentDetails(
    '**export**: counting, then writing every table; the heartbeat of the activity says how far it is',
  );
  try {
    const startedAt = workflowInfo().startTime.getTime();
    const exported = await exporting.exportSnapshot({ runId: run.runId, startedAt, ...how });
    await bookkeeping.finishExport({ ...run, exported });
    setCurrentDetails(`**export**: ${inWords(exported)}`);
    return exported;
  } catch (error) {
    const failure = isCancellation(error) ? {} : { failure: failureOf(error).message };
    await CancellationScope.nonCancellable(() => bookkeeping.finishExport({ ...run, ...failure }));
    throw error;
  }
}

function inWords({ snapshotId, skipped, tables, rows }: Exported): string {
  return skipped
    ? `skipped, nothing has changed since ${snapshotId}`
    : `published ${snapshotId}, ${rows} rows in ${tables} tables`;
}
