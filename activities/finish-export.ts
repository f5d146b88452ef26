import { beginRunOfAll } from '../warehouse/runs/begin-run-of-all.ts';
import { finishRunOfAll } from '../warehouse/runs/finish-run-of-all.ts';
import type { Dependencies } from './dependencies.ts';
import type { Exported } from './export/export-job.ts';
import { runOfAll } from './run-of-all.ts';

export interface FinishExportInput {
  runId: string;
  reason: string;
  /** Absent if it failed or was canceled. */
  exported?: Exported;
  /** A sentence that says what failed. */
  failure?: string;
}

/** Closes the export's row with its result. A run that was reset to its end has no row yet, so it is begun first. */
export async function finishExport(
  { warehouse, exporting }: Pick<Dependencies, 'warehouse' | 'exporting'>,
  { runId, reason, exported, failure }: FinishExportInput,
): Promise<void> {
  await beginRunOfAll(warehouse, runOfAll({ runId, reason, kind: 'export', target: null }));
  const otherwise = failure === undefined ? 'cancelled' : 'failed';
  await finishRunOfAll(warehouse, {
    runId,
    ...(exported === undefined
      ? { status: otherwise, failure: failure ?? null, outcome: null }
      : endOfExport(exported, exporting.lake)),
  });
}

/** A published snapshot counts as failed if readers or Iceberg tables do not see it, or old files could not be removed: somebody has to be told. */
export function endOfExport(
  exported: Exported,
  lake: string,
): { status: 'succeeded' | 'failed'; failure: string | null; outcome: string | null } {
  const { clockProblem, icebergProblem, removalProblem } = exported;
  const outcome = inWords(exported, lake);
  const problems = [clockProblem, icebergProblem, removalProblem].filter((one) => one !== undefined);
  return problems.length === 0
    ? { status: 'succeeded', failure: null, outcome }
    : { status: 'failed', failure: [outcome, ...problems].join(' '), outcome: null };
}

function inWords({ icebergTables, ...exported }: Exported, lake: string): string {
  const shown =
    icebergTables === undefined
      ? ''
      : ` ${icebergTables} Iceberg tables show it: files in ${lake}/iceberg/finance, catalog in the schema iceberg of the warehouse.`;
  return published(exported) + shown;
}

function published({
  snapshotId,
  skipped,
  tables,
  rows,
  unfit,
  damage,
  isBehind,
  clockProblem,
  ...sizes
}: Exported): string {
  const { bytes, bytesWritten = bytes } = sizes;
  if (skipped) return `Nothing has changed since snapshot ${snapshotId}, so there is no new one.`;
  const notFit =
    unfit === 0
      ? ''
      : ` ${unfit} values do not fit their Parquet type and are rounded or null: see its manifest.`;
  const kept =
    bytesWritten === bytes
      ? ''
      : ` ${sizeInWords(bytesWritten)} of its ${sizeInWords(bytes)} were written, the rest is reused from the previous snapshot.`;
  const damaged =
    damage === undefined ? '' : ` Nothing has changed, but the previous snapshot is damaged: ${damage}.`;
  const behind =
    isBehind === true && clockProblem === undefined
      ? ' latest.json still names a snapshot with a later time, so readers do not see this one. See "daybook snapshots list".'
      : '';
  return `Published snapshot ${snapshotId}: ${rows.toLocaleString('en-US')} rows in ${tables} tables.${kept}${notFit}${damaged}${behind}`;
}

function sizeInWords(bytes: number): string {
  return bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
