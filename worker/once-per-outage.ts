import type { Logger } from 'pino';
import { reasonOf } from '../errors/reason-of.ts';

/**
 * Returns a function that runs work and logs only the first of consecutive failures, since the others say the same. Its result is
 * undefined if the work failed.
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
      if (!failing) logger.warn({ reason: reasonOf(error) }, message);
      failing = true;
      return undefined;
    }
  };
}
