import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { oncePerOutage } from './once-per-outage.ts';

export interface Repetition {
  readonly everyMilliseconds: number;
  readonly stopping: AbortSignal;
  readonly logger: Logger;
  /** The log message of the first of consecutive failures. */
  readonly failing: string;
}

/** Repeats `work` with a pause in between, until `stopping`. Only the first of consecutive failures is logged. */
export async function repeat(
  { everyMilliseconds, stopping, logger, failing }: Repetition,
  work: () => Promise<void>,
): Promise<void> {
  const attempt = oncePerOutage(logger, failing);
  while (!stopping.aborted) {
    await attempt(work);
    await pause(everyMilliseconds, undefined, { signal: stopping }).catch(() => undefined);
  }
}
