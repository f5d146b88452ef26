import type { KeptData } from '../../../warehouse/connections/kept-data.ts';
import { shown } from '../../printer.ts';
import { describeCompany } from './describe-company.ts';

/** Returns one line for each removed connection whose records were kept. */
export function keptLines(kept: readonly KeptData[]): string[] {
  return kept.map((one) => {
    const since = one.removed_at === null ? '' : `, removed at ${shown(one.removed_at)},`;
    return `The records of ${one.connection_id} (${describeCompany(one)})${since} are kept.`;
  });
}
