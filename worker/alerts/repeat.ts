import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import { codeOf } from '../../errors/code-of.ts';

/**
 * Does `work` again and again, with a pause of `everyMilliseconds`, until `stopping`. What it throws is logged once for as
 * long as it lasts, by name and code alone: a message of the database may quote a record.
 */
export async function repeat(
  { everyMilliseconds, stopping, logger, purpose }: Repetition,
  work: () => Promise<void>,
): Promise<void> {
  let failing = false;
  while (!stopping.aborted) {
    try {
      await work();
      failing = false;
    } catch (error) {
      if (!failing) logger.warn({ purpose, error: nameOf(error) }, 'Alerts are held up; it is tried again.');
      failing = true;
    }
    await wait(everyMilliseconds, undefined, { signal: stopping }).catch(() => undefined);
  }
}

export interface Repetition {
  readonly everyMilliseconds: number;
  readonly stopping: AbortSignal;
  readonly logger: Logger;
  /** What stands still when it fails. */
  readonly purpose: string;
}

function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const code = codeOf(error);
  return code === undefined ? error.name : `${error.name} ${code}`;
}
