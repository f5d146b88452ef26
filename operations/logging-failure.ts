import type { Logger } from 'pino';
import { reasonOf } from '../errors/reason-of.ts';

/** Does work that a worker can do without: if it fails, `message` is logged with the reason. */
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
