import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { oncePerOutage } from './once-per-outage.ts';

export interface Repetition {
  readonly everyMilliseconds: number;
  readonly stopping: AbortSignal;
  readonly logger: Logger;
  /** What the log says of the first failure in a row. */
  readonly failing: string;
}

/** Does `work` again and again, with a pause in between, until `stopping`. What it throws is logged once for as long as it lasts. */
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
