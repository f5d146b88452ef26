import type { KeptData } from '../../../warehouse/connections/kept-data.ts';
import { shown } from '../../printer.ts';
import { companyOf } from './company-of.ts';

/** What connections left that are removed, a line each. */
export function keptLines(kept: readonly KeptData[]): string[] {
  return kept.map((one) => {
    const since = one.removed_at === null ? '' : `, removed at ${shown(one.removed_at)}`;
    return `Records are kept of ${one.connection_id}${since}: of ${companyOf(one)}.`;
  });
}
