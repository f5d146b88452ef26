import type { Standstill } from './history.ts';

/** Makes one run stand still with an answer in hand while the others overtake it. */
export interface StandingStill {
  /** Chooses the next turn among the parties that do not stand still. `choose` decides between them. */
  choose(keys: readonly string[]): number;
  /** Records a step that was taken. Returns whether the standstill begins with it. */
  beginsWith(key: string): boolean;
  /** Resolves when the others may begin. */
  readonly begun: Promise<void>;
  letOthersBegin(): void;
}

export function standStill(
  { activity: wanted, answers, steps }: Standstill,
  workflow: string,
  choose: (keys: readonly string[]) => number,
): StandingStill {
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  let got = 0;
  let held: string | undefined;
  let stepsLeft = steps;
  const isHeld = (key: string): boolean => held !== undefined && key.startsWith(held);
  return {
    begun,
    letOthersBegin: () => {
      begin();
    },
    choose(keys) {
      const others = keys.flatMap((key, place) => (isHeld(key) ? [] : [place]));
      if (others.length === keys.length) return choose(keys);
      if (others.length > 0 && stepsLeft > 0) {
        stepsLeft -= 1;
        const chosen = others[choose(others.map((place) => keys[place] ?? ''))];
        return chosen ?? 0;
      }
      // The old answer is landed without interruption.
      return keys.findIndex(isHeld);
    },
    beginsWith(key) {
      const [whose = '', activity = '', attempt = '', name = '', what = ''] = key.split(' ');
      const counts = wanted === undefined ? ['list', 'fetch'].includes(what) : name === wanted;
      if (whose !== workflow || !counts) return false;
      got += 1;
      if (got !== answers) return false;
      held = `${whose} ${activity} ${attempt} `;
      return true;
    },
  };
}
