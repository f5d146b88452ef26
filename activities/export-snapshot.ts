import { snapshotId } from '../lake/manifest/snapshot-id.ts';
import { warehouseId } from '../warehouse/warehouse-id.ts';
import type { Dependencies } from './dependencies.ts';
import type { Exported, ExportProgress } from './export/export-job.ts';
import { runExportProcess } from './export/run-export-process.ts';
import { heartbeating } from './heartbeating.ts';

export interface ExportSnapshotInput {
  runId: string;
  /** The time at which the workflow began, in Unix milliseconds. */
  startedAt: number;
  /** Makes a snapshot although nothing has changed. */
  force?: boolean;
  /** Shows it in Iceberg tables too, although the worker is not set up to do so. */
  iceberg?: boolean;
}

/** Exports all tables as one snapshot, unless nothing has changed since the last. The same run makes the same snapshot. */
export async function exportSnapshot(
  { warehouse, exporting }: Pick<Dependencies, 'warehouse' | 'exporting'>,
  { runId, startedAt, force = false, iceberg = false }: ExportSnapshotInput,
): Promise<Exported> {
  const job = {
    ...exporting,
    warehouseId: await warehouseId(warehouse),
    runId,
    force,
    ...(exporting.iceberg && { iceberg: { ...exporting.iceberg, add: iceberg || exporting.iceberg.add } }),
    snapshotId: snapshotId({ runId, startedAt: new Date(startedAt) }),
  };
  let progress: ExportProgress | undefined;
  return heartbeating(
    (signal) =>
      runExportProcess(job, {
        signal,
        onProgress: (now) => {
          progress = now;
        },
      }),
    () => progress,
  );
}
