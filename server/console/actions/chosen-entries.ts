import type { Warehouse } from '../../../warehouse/open-warehouse.ts';
import {
  readQuarantineEntries,
  type QuarantineEntry,
} from '../../../warehouse/quarantine/read-quarantine.ts';
import { ActionRefused } from '../action.ts';

/** The value of an entry's checkbox: its number, and a hash of the record as the page showed it. */
export function choiceOfEntry({ id, content }: QuarantineEntry): string {
  return `${id}.${content}`;
}

/** Returns the checked entries that are still open and unchanged since they were shown. Throws ActionRefused if there are none. */
export async function chosenEntries(warehouse: Warehouse, form: URLSearchParams): Promise<QuarantineEntry[]> {
  const choices = form.getAll('entry').filter((choice) => /^\d{1,15}\.[0-9a-f]{64}$/.test(choice));
  if (choices.length === 0) throw new ActionRefused('Choose at least one entry first.');
  const entries = await readQuarantineEntries(
    warehouse,
    choices.map((choice) => Number(choice.split('.')[0])),
  );
  const open = entries.filter(({ status }) => status === 'open');
  if (open.length === 0) throw new ActionRefused('The chosen entries are closed already.');
  const asShown = open.filter((entry) => choices.includes(choiceOfEntry(entry)));
  if (asShown.length === 0)
    throw new ActionRefused(
      'Another form of the chosen records has arrived since this page was shown: look again, then choose.',
    );
  return asShown;
}
