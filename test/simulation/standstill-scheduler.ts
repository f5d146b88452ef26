import type { Standstill } from './history.ts';

/** Makes one run stand still after an answer, before it is used, while the others overtake it. */
export interface StandstillScheduler {
  /** Chooses the next turn among the parties that do not stand still. `choose` decides between them. */
  choose(keys: readonly string[]): number;
  /** Records a step that was taken. Returns whether the standstill begins with it. */
  recordStep(key: string): boolean;
  /** Resolves when the others may begin. */
  readonly othersMayBegin: Promise<void>;
  letOthersBegin(): void;
}

export function createStandstillScheduler(
  { activity: wanted, answers, steps }: Standstill,
  workflow: string,
  choose: (keys: readonly string[]) => number,
): StandstillScheduler {
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  let got = 0;
  let held: string | undefined;
  let stepsLeft = steps;
  const isHeld = (key: string): boolean => held !== undefined && key.startsWith(held);
  return {
    othersMayBegin: begun,
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
    recordStep(key) {
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
