import type { Logger } from 'pino';
import { reasonOf } from '../errors/reason-of.ts';

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
      if (!failing) logger.warn({ reason: reasonOf(error) }, message);
      failing = true;
      return undefined;
    }
  };
}
