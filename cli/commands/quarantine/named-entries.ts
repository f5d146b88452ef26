import type { Warehouse } from '../../../warehouse/open-warehouse.ts';
import {
  readQuarantineEntries,
  type QuarantineEntry,
} from '../../../warehouse/quarantine/read-quarantine.ts';
import { UsageError } from '../../errors.ts';
import { countOption } from '../../options.ts';

/** For arguments that are numbers of entries. */
export function idsArgument(text: string, before: number[] = []): number[] {
  return [...before, countOption(text)];
}

/** The entries of these numbers. Throws UsageError when there is none of one of them. */
export async function namedEntries(warehouse: Warehouse, ids: readonly number[]): Promise<QuarantineEntry[]> {
  const entries = await readQuarantineEntries(warehouse, ids);
  const unknown = ids.filter((id) => !entries.some((entry) => entry.id === id));
  if (unknown.length > 0) {
    throw new UsageError(
      `There is no quarantine entry ${unknown.join(', ')}: see "daybook quarantine list --all".`,
    );
  }
  return entries;
}
