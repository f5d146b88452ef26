import { dice } from '../../sandbox/data/dice.ts';

/** Chance that can be repeated: the same name gives the same answers to the same questions. */
export interface Chance {
  /** A whole number from 0, below `limit`. */
  below(limit: number): number;
  happens(percent: number): boolean;
  of<T>(list: readonly T[]): T;
  /** At most `count` of them, each once. */
  someOf<T>(list: readonly T[], count: number): T[];
}

export function chanceOf(name: string): Chance {
  const roll = dice(name);
  let rolls = 0;
  const below = (limit: number): number => {
    rolls += 1;
    return roll(rolls) % limit;
  };
  return {
    below,
    happens: (percent) => below(100) < percent,
    of(list) {
      const chosen = list[below(list.length)];
      if (chosen === undefined) throw new Error('There is nothing to choose from.');
      return chosen;
    },
    someOf(list, count) {
      return list
        .map((element) => ({ element, rank: below(2 ** 32) }))
        .sort((left, right) => left.rank - right.rank)
        .slice(0, count)
        .map(({ element }) => element);
    },
  };
}
