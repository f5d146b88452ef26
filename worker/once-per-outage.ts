import type { Logger } from 'pino';

/**
 * Runs work that may fail, again and again: the first failure in a row is logged, for the others say the same. Undefined when it
 * failed.
 */
export function oncePerOutage(
  logger: Logger,
  message: string,
): <Result>(work: () => Promise<Result>) => Promise<Result | undefined> {
  let failing = false;
  return async (work) => {
    try {
      const result = await work();
      failing = false;
      return result;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (!failing) logger.warn({ reason }, message);
      failing = true;
      return undefined;
    }
  };
}
