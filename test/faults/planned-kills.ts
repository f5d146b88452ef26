import { victims, type PlannedKill } from './commit-killer.ts';

/** The kills planned for each commit point. */
export const plannedKills: readonly PlannedKill[] = victims.flatMap((victim) => [
  { victim, side: 'before' },
  { victim, side: 'after' },
]);

/** The name of the fault in the table. */
export function faultAt(point: string): string {
  return `kill -9 at a commit of \`${point}\``;
}

/** Describes which victims were killed, and on which side of the commit. */
export function describeKills(plannedKills: readonly PlannedKill[]): string {
  return victims
    .flatMap((victim) => {
      const sides = plannedKills
        .filter((plannedKill) => plannedKill.victim === victim)
        .map(({ side }) => side);
      return sides.length === 0 ? [] : [`${victim} ${[...new Set(sides)].sort().reverse().join(' and ')}`];
    })
    .join(', ');
}
