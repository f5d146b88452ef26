import { victims, type Death } from './executioner.ts';

/** Who dies at each commit point, and when. */
export const deaths: readonly Death[] = victims.flatMap((victim) => [
  { victim, side: 'before' },
  { victim, side: 'after' },
]);

/** How the table calls it. */
export function faultAt(point: string): string {
  return `kill -9 at a commit of \`${point}\``;
}

/** In words: who died, and on which side of the commit. */
export function deathsInWords(deaths: readonly Death[]): string {
  return victims
    .flatMap((victim) => {
      const sides = deaths.filter((death) => death.victim === victim).map(({ side }) => side);
      return sides.length === 0 ? [] : [`${victim} ${[...new Set(sides)].sort().reverse().join(' and ')}`];
    })
    .join(', ');
}
