import type { Warehouse } from '../../../warehouse/open-warehouse.ts';
import {
  readQuarantineEntries,
  type QuarantineEntry,
} from '../../../warehouse/quarantine/read-quarantine.ts';
import { ActionRefused } from '../action.ts';

/** The entries whose boxes were ticked and that are still open. Throws ActionRefused when there are none. */
export async function chosenEntries(warehouse: Warehouse, form: URLSearchParams): Promise<QuarantineEntry[]> {
  const ids = form.getAll('id').filter((id) => /^\d{1,15}$/.test(id));
  if (ids.length === 0) throw new ActionRefused('Choose at least one entry first.');
  const entries = await readQuarantineEntries(warehouse, ids.map(Number));
  const open = entries.filter(({ status }) => status === 'open');
  if (open.length === 0) throw new ActionRefused('The chosen entries are closed already.');
  return open;
}
