import type { RemovalListed } from '../../../warehouse/connections/list-removals.ts';
import { shown } from '../../printer.ts';

/** Returns one line for each connection that is being removed. */
export function removalLines(removals: readonly RemovalListed[]): string[] {
  return removals.map(
    ({ connectionId, since, keepsData }) =>
      `The removal of ${connectionId} began at ${shown(since)} and is unfinished. If it is not running, finish it with: npx daybook connection remove ${connectionId}${keepsData ? ' --keep-data' : ''}`,
  );
}
