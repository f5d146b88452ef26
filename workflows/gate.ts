import { sleep } from '@temporalio/workflow';

/** One wait for all streams of a connection: one timer in the history, that says why. */
export interface Gate {
  /** Resolves when nobody waits. */
  open(): Promise<void>;
  /** Waits until the given time; who comes while the gate is closed waits along. */
  closeUntil(time: number, why: string): Promise<void>;
}

export function createGate(onChange: (waiting: string | undefined) => void): Gate {
  let closed: Promise<void> | undefined;
  return {
    async open() {
      while (closed !== undefined) await closed;
    },
    async closeUntil(time, why) {
      closed ??= wait(time, why).finally(() => {
        closed = undefined;
        onChange(undefined);
      });
      await closed;
    },
  };

  async function wait(time: number, why: string): Promise<void> {
    onChange(why);
    await sleep(Math.max(time - Date.now(), 1_000), { summary: why });
  }
}
