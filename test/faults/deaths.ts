import { victims, type Death } from './executioner.ts';

/** Every death planned for each commit point. */
export const deaths: readonly Death[] = victims.flatMap((victim) => [
  { victim, side: 'before' },
  { victim, side: 'after' },
]);

/** The name of the fault in the table. */
export function faultAt(point: string): string {
  return `kill -9 at a commit of \`${point}\``;
}

/** Describes which victims died, and on which side of the commit. */
export function deathsInWords(deaths: readonly Death[]): string {
  return victims
    .flatMap((victim) => {
      const sides = deaths.filter((death) => death.victim === victim).map(({ side }) => side);
      return sides.length === 0 ? [] : [`${victim} ${[...new Set(sides)].sort().reverse().join(' and ')}`];
    })
    .join(', ');
}
