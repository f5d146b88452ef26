import type { KeptData } from '../../../warehouse/connections/kept-data.ts';
import { shown } from '../../printer.ts';
import { companyOf } from './company-of.ts';

/** The records that removed connections left, a line each. */
export function keptLines(kept: readonly KeptData[]): string[] {
  return kept.map((one) => {
    const since = one.removed_at === null ? '' : `, removed at ${shown(one.removed_at)},`;
    return `The records of ${one.connection_id} (${companyOf(one)})${since} are kept.`;
  });
}
