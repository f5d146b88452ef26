import type { Passing } from './arbiter.ts';

export const victims = ['process', 'Postgres', 'Temporal'] as const;
export type Victim = (typeof victims)[number];

/** A death at a commit point: the victim, and the side of the commit. */
export interface Death {
  readonly victim: Victim;
  readonly side: Passing['side'];
}

/** Kills at every commit point reached, once for each planned death, and lets one recovery end before the next kill. */
export function createExecutioner(input: {
  readonly deathsAt: (point: string) => readonly Death[];
  /** Resolves once the victim is dead. `back` resolves once it is running again. */
  readonly kill: (death: Death, passing: Passing) => Promise<{ readonly back: Promise<unknown> }>;
}): Executioner {
  const left = new Map<string, Death[]>();
  const died: Killing[] = [];
  let recovering: Promise<void> | undefined;

  return {
    died,
    recovered: async () => recovering,
    async decide(passing) {
      const { point, side } = passing;
      const deaths = left.get(point) ?? [...input.deathsAt(point)];
      left.set(point, deaths);
      const next = deaths.findIndex((death) => death.side === side);
      if (recovering !== undefined || next === -1) return;
      const [death] = deaths.splice(next, 1);
      if (death === undefined) return;
      died.push({ ...death, point });
      const dead = input.kill(death, passing);
      recovering = dead
        .then(({ back }) => back)
        .then(() => {
          recovering = undefined;
        });
      await dead;
    },
  };
}

export interface Killing extends Death {
  readonly point: string;
}

export interface Executioner {
  /** The deaths so far; the list grows. */
  readonly died: readonly Killing[];
  /** Resolves when no victim is recovering. */
  readonly recovered: () => Promise<void>;
  readonly decide: (passing: Passing) => Promise<void>;
}
