import { createChance } from '../day/chance.ts';

/**
 * Chooses turns in bursts: one party runs for a while and all others wait. With an even choice no whole run would ever overtake
 * another, and no page would grow old before it lands.
 */
export function chooseInBursts(schedule: number): (keys: readonly string[]) => number {
  const chance = createChance(`schedule/${schedule}`);
  const length = chance.pick([1, 12, 60]);
  let currentOwner = '';
  return (keys) => {
    const same = keys.findIndex((key) => ownerOfKey(key) === currentOwner);
    if (same >= 0 && chance.below(length) > 0) return same;
    const chosen = chance.below(keys.length);
    currentOwner = ownerOfKey(keys[chosen] ?? '');
    return chosen;
  };
}

/** The workflow and the activity of a key. */
function ownerOfKey(key: string): string {
  return key.split(' ', 2).join(' ');
}
