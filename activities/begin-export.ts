import { beginRunOfAll } from '../warehouse/runs/begin-run-of-all.ts';
import type { Dependencies } from './dependencies.ts';
import { runOfAll } from './run-of-all.ts';

export interface BeginExportInput {
  runId: string;
  reason: string;
}

/** Opens the row of the export. */
export async function beginExport(
  { warehouse, searchable }: Pick<Dependencies, 'warehouse' | 'searchable'>,
  input: BeginExportInput,
): Promise<{ searchable: boolean }> {
  await beginRunOfAll(warehouse, runOfAll({ ...input, kind: 'export', target: null }));
  return { searchable };
}
