import { victims, type Death } from './executioner.ts';

const all: readonly Death[] = victims.flatMap((victim) => [
  { victim, side: 'before' },
  { victim, side: 'after' },
]);

/** Who dies at a commit point, and when: everybody before and after it, or, to be quick, one of these by turns. */
export function deathsOf(everybody: boolean): (point: string) => readonly Death[] {
  if (everybody) return () => all;
  return (point) => {
    const turn = Buffer.from(point).reduce((sum, byte) => sum + byte, 0) % all.length;
    return all.slice(turn, turn + 1);
  };
}

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
