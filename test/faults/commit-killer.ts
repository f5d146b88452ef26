import type { PausedProcess } from './commit-server.ts';

export const victims = ['process', 'Postgres', 'Temporal'] as const;
export type Victim = (typeof victims)[number];

/** A planned kill at a commit point: the victim, and the side of the commit. */
export interface PlannedKill {
  readonly victim: Victim;
  readonly side: PausedProcess['side'];
}

/** Kills at every commit point reached, once for each planned kill, and lets one recovery end before the next kill. */
export function createCommitKiller(input: {
  readonly deathsAt: (point: string) => readonly PlannedKill[];
  /** Resolves once the victim is dead. `back` resolves once it is running again. */
  readonly kill: (
    plannedKill: PlannedKill,
    paused: PausedProcess,
  ) => Promise<{ readonly back: Promise<unknown> }>;
}): CommitKiller {
  const left = new Map<string, PlannedKill[]>();
  const kills: Kill[] = [];
  let recovering: Promise<void> | undefined;

  return {
    kills: kills,
    recovered: async () => recovering,
    async killIfPlanned(paused) {
      const { point, side } = paused;
      const plannedKills = left.get(point) ?? [...input.deathsAt(point)];
      left.set(point, plannedKills);
      const next = plannedKills.findIndex((plannedKill) => plannedKill.side === side);
      if (recovering !== undefined || next === -1) return;
      const [plannedKill] = plannedKills.splice(next, 1);
      if (plannedKill === undefined) return;
      kills.push({ ...plannedKill, point });
      const dead = input.kill(plannedKill, paused);
      recovering = dead
        .then(({ back }) => back)
        .then(() => {
          recovering = undefined;
        });
      await dead;
    },
  };
}

export interface Kill extends PlannedKill {
  readonly point: string;
}

export interface CommitKiller {
  /** The kills so far; the list grows. */
  readonly kills: readonly Kill[];
  /** Resolves when no victim is recovering. */
  readonly recovered: () => Promise<void>;
  readonly killIfPlanned: (paused: PausedProcess) => Promise<void>;
}
