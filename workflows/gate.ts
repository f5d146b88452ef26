import { CancellationScope, condition, sleep } from '@temporalio/workflow';

/**
 * One wait for all streams of a connection: one timer in the history, that says why. The stream that waited tries first;
 * the others follow when it got through, so that a service that needs hours is asked once at a time.
 */
export interface Gate {
  /** Resolves when the stream may ask the service. */
  pass(stream: string): Promise<void>;
  /** The service wants to be left alone for so long, or until it says that this is over. */
  closeFor(stream: string, milliseconds: number, wait: { why: string; isOver: () => boolean }): Promise<void>;
  /** The stream got through, or has ended. */
  reopen(stream: string): void;
}

export function createGate(onChange: (waiting: string | undefined) => void): Gate {
  let first: string | undefined;
  const pass = (stream: string): Promise<void> => condition(() => first === undefined || first === stream);
  return {
    pass,
    async closeFor(stream, milliseconds, { why, isOver }) {
      if (first !== undefined && first !== stream) return pass(stream);
      first = stream;
      onChange(why);
      const timer = new CancellationScope();
      await Promise.race([
        timer.run(() => sleep(Math.max(milliseconds, 1_000), { summary: why })),
        condition(isOver),
      ]);
      timer.cancel();
      onChange(undefined);
    },
    reopen(stream) {
      if (first === stream) first = undefined;
    },
  };
}
