import type { Logger } from 'pino';
import { reasonOf } from '../errors/reason-of.ts';

/** Runs optional work of a worker: if it fails, `message` is logged with the reason. */
export async function loggingFailure(
  logger: Logger,
  message: string,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    logger.warn({ reason: reasonOf(error) }, message);
  }
}
