import { setTimeout as wait } from 'node:timers/promises';
import { BuildRunning } from '../warehouse/marts/build-lock.ts';
import { ExportRunning } from '../warehouse/snapshots/open-snapshot.ts';
import { LockLost } from '../warehouse/transactions/hold-lock.ts';

/** A running export or build did not end before the timeout. */
export class StillRunning extends Error {
  override readonly name = 'StillRunning';
  readonly handling = 'stop';

  /** `what` was not done. */
  constructor(what: string) {
    super(
      `${what}: a running export or build of the marts did not finish in time. "daybook status" shows it.`,
    );
  }
}

export interface Waiting {
  readonly onStep: (text: string) => void;
  /** How long to wait for exports and builds that are in the way. */
  readonly timeoutMilliseconds: number;
}

/** Does `work` as soon as no export or build is in its way; `left` says what was not done after a timeout. Throws StillRunning. */
export type WhenFree = <Result>(left: string, work: () => Promise<Result>) => Promise<Result>;

/** All calls of one `WhenFree` share the deadline; each is tried at least once. */
export function waitingFor({ onStep, timeoutMilliseconds }: Waiting): WhenFree {
  const deadline = performance.now() + timeoutMilliseconds;
  return async (left, work) => {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (![ExportRunning, BuildRunning, LockLost].some((kind) => error instanceof kind)) throw error;
        if (performance.now() > deadline) throw error instanceof LockLost ? error : new StillRunning(left);
        onStep(
          error instanceof LockLost
            ? 'the lock was lost; once more'
            : 'waiting for a running export or build of the marts',
        );
        await wait(2_000);
      }
    }
  };
}
