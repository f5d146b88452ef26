import { chanceOf } from '../day/chance.ts';

/**
 * Chooses turns in bursts: one party runs for a while and all others stand still. With an even choice no whole run would ever overtake
 * another, and no page would grow old before it lands.
 */
export function inBursts(schedule: number): (keys: readonly string[]) => number {
  const chance = chanceOf(`schedule/${schedule}`);
  const length = chance.of([1, 12, 60]);
  let favourite = '';
  return (keys) => {
    const same = keys.findIndex((key) => whoseOf(key) === favourite);
    if (same >= 0 && chance.below(length) > 0) return same;
    const chosen = chance.below(keys.length);
    favourite = whoseOf(keys[chosen] ?? '');
    return chosen;
  };
}

/** The workflow and the activity of a key. */
function whoseOf(key: string): string {
  return key.split(' ', 2).join(' ');
}
