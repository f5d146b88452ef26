import { chanceOf } from '../day/chance.ts';

/**
 * Chooses whose turn it is so that one goes on for a while and all others stand still. Choosing evenly, nobody would ever be overtaken
 * by a whole run, which is what it takes to land a page that has grown old.
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

/** The workflow and the activity. */
function whoseOf(key: string): string {
  return key.split(' ', 2).join(' ');
}
