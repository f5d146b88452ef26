import type { Logger } from 'pino';

/** Runs work that may fail, again and again: the first failure in a row is logged, for the others say the same. */
export function oncePerOutage(logger: Logger, message: string): (work: () => Promise<void>) => Promise<void> {
  let failing = false;
  return async (work) => {
    try {
      await work();
      failing = false;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (!failing) logger.warn({ reason }, message);
      failing = true;
    }
  };
}
