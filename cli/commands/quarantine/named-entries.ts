import type { Warehouse } from '../../../warehouse/open-warehouse.ts';
import {
  readQuarantineEntries,
  type QuarantineEntry,
} from '../../../warehouse/quarantine/read-quarantine.ts';
import { UsageError } from '../../errors.ts';
import { countOption } from '../../options.ts';

/** Parses arguments that are IDs of entries. */
export function idsArgument(text: string, before: number[] = []): number[] {
  return [...before, countOption(text)];
}

/** Returns the entries with these IDs. Throws UsageError if one of them does not exist. */
export async function namedEntries(warehouse: Warehouse, ids: readonly number[]): Promise<QuarantineEntry[]> {
  const entries = await readQuarantineEntries(warehouse, ids);
  const unknown = ids.filter((id) => !entries.some((entry) => entry.id === id));
  if (unknown.length > 0) {
    const there = unknown.length === 1 ? 'is no quarantine entry' : 'are no quarantine entries';
    throw new UsageError(`There ${there} ${unknown.join(', ')}: see "daybook quarantine list --all".`);
  }
  return entries;
}
