import type { SnapshotTable } from '../../warehouse/snapshots/snapshot-table.ts';
import type { PartPlanned, TablePlanned } from './plan-parts.ts';

/** Returns a file's path in the snapshot. Called once for each file. */
export type FileNames = (table: SnapshotTable, part: PartPlanned, file: number) => string;

/** Numbers the files of each table: first one file for each part, then the further files of parts of more than 1 GB. */
export function fileNames(planned: readonly TablePlanned[]): FileNames {
  const next = new Map(planned.map(({ table, parts }) => [table.name, parts.length]));
  return ({ name }, { index }, file) => {
    const after = next.get(name) ?? 0;
    if (file > 0) next.set(name, after + 1);
    return `${name}/part-${String(file > 0 ? after : index).padStart(5, '0')}.parquet`;
  };
}
