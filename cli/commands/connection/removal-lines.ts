import type { RemovalListed } from '../../../warehouse/connections/list-removals.ts';
import { shown } from '../../printer.ts';

/** The connections that are being removed, a line each. */
export function removalLines(removals: readonly RemovalListed[]): string[] {
  return removals.map(
    ({ connectionId, since, keepsData }) =>
      `The removal of ${connectionId} began at ${shown(since)} and is unfinished. If it is not running, finish it with: npx daybook connection remove ${connectionId}${keepsData ? ' --keep-data' : ''}`,
  );
}
