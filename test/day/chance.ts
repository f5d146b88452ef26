import { dice } from '../../sandbox/data/dice.ts';

/** Repeatable chance: the same name gives the same answers to the same sequence of questions. */
export interface Chance {
  /** Returns an integer from 0 to below `limit`. */
  below(limit: number): number;
  happens(percent: number): boolean;
  pick<T>(list: readonly T[]): T;
  /** Returns at most `count` distinct elements. */
  pickSome<T>(list: readonly T[], count: number): T[];
}

export function createChance(name: string): Chance {
  const roll = dice(name);
  let rolls = 0;
  const below = (limit: number): number => {
    rolls += 1;
    return roll(rolls) % limit;
  };
  return {
    below,
    happens: (percent) => below(100) < percent,
    pick(list) {
      const chosen = list[below(list.length)];
      if (chosen === undefined) throw new Error('There is nothing to choose from.');
      return chosen;
    },
    pickSome(list, count) {
      return list
        .map((element) => ({ element, rank: below(2 ** 32) }))
        .sort((left, right) => left.rank - right.rank)
        .slice(0, count)
        .map(({ element }) => element);
    },
  };
}
