import type { RemovalListed } from '../../../warehouse/connections/list-removals.ts';
import { shown } from '../../printer.ts';

/** What is being removed, a line each. */
export function removalLines(removals: readonly RemovalListed[]): string[] {
  return removals.map(
    ({ connectionId, since, keepsData }) =>
      `${connectionId} is being removed since ${shown(since)}. If nobody does it, finish with: npx daybook connection remove ${connectionId}${keepsData ? ' --keep-data' : ''}`,
  );
}
