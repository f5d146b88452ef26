import { discardEntries as discardInWarehouse } from '../../../warehouse/quarantine/discard-entries.ts';
import { paths } from '../../frame/paths.ts';
import { ActionRefused, type Action } from '../action.ts';
import { chosenEntries } from './chosen-entries.ts';

/** Does what `daybook quarantine discard ID… --why` does. */
export const discardEntries: Action = async ({ warehouse }, { form }) => {
  const entries = await chosenEntries(warehouse, form);
  const why = form.get('why')?.trim() ?? '';
  if (why === '') throw new ActionRefused('Say why the records are not wanted: it is kept with the entries.');
  const { length: count } = await discardInWarehouse(warehouse, { entries, why });
  return { notice: `${count} ${count === 1 ? 'entry' : 'entries'} discarded.`, next: paths.quarantine() };
};
