import { beginExport as beginExportInWarehouse } from '../warehouse/snapshots/begin-export.ts';
import type { Dependencies } from './dependencies.ts';
import { runOf } from './run-of.ts';

export interface BeginExportInput {
  runId: string;
  reason: string;
}

/** Opens the row of the export. */
export async function beginExport(
  { warehouse, searchable }: Pick<Dependencies, 'warehouse' | 'searchable'>,
  input: BeginExportInput,
): Promise<{ searchable: boolean }> {
  await beginExportInWarehouse(warehouse, runOf({ ...input, connection: '', kind: 'export' }));
  return { searchable };
}
