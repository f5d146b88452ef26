import { CancellationScope, condition, sleep } from '@temporalio/workflow';

/**
 * One wait for all streams of a connection: one timer in the history, with its reason. The stream that waited tries first; the others follow once
 * it has succeeded, so that a service that needs hours gets one request at a time. A stream that is told to wait while the service answers
 * others waits by itself.
 */
export interface Gate {
  /** Resolves when the stream may ask the service. */
  pass(stream: string): Promise<void>;
  /** Closes the gate: the service asks for a pause of this length, or until it announces that the wait is over. */
  closeFor(stream: string, milliseconds: number, wait: Wait): Promise<void>;
  /** Waits for this stream only: the service asks for a pause, but answers other streams, which may pass. */
  waitAlone(stream: string, milliseconds: number, wait: Wait): Promise<void>;
  /** Opens the gate: the stream succeeded, or has ended. */
  reopen(stream: string): void;
}

export function createGate(onChange: (waiting: string | undefined) => void): Gate {
  let first: string | undefined;
  const pass = (stream: string): Promise<void> => condition(() => first === undefined || first === stream);
  const reopen = (stream: string): void => {
    if (first === stream) first = undefined;
  };
  return {
    pass,
    async closeFor(stream, milliseconds, wait) {
      if (first !== undefined && first !== stream) return pass(stream);
      first = stream;
      await sleepUntilOver(milliseconds, wait, onChange);
    },
    async waitAlone(stream, milliseconds, wait) {
      reopen(stream);
      await sleepUntilOver(milliseconds, wait);
    },
    reopen,
  };
}

/** `onChange` comes before the timer and right after its cancellation: recorded histories have that order. */
async function sleepUntilOver(
  milliseconds: number,
  { why, isOver }: Wait,
  onChange: (waiting: string | undefined) => void = () => undefined,
): Promise<void> {
  onChange(why);
  const timer = new CancellationScope();
  await Promise.race([
    timer.run(() => sleep(Math.max(milliseconds, 1_000), { summary: why })),
    condition(isOver),
  ]);
  timer.cancel();
  onChange(undefined);
}

interface Wait {
  why: string;
  isOver: () => boolean;
}
