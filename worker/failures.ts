import type { ActivityExecuteInput, ActivityInboundCallsInterceptor, Next } from '@temporalio/worker';
import { ApplicationFailure, TemporalFailure } from '@temporalio/common';
import { CompleteAsyncError } from '@temporalio/activity';
import type { Logger } from 'pino';
import { handlingOf } from '../activities/handling.ts';

/**
 * Turns errors of activities into failures that Temporal and people understand: the type is the name of the error's
 * class, and errors that say "stop" are not tried again. Only our own messages go into a history; of any other error its
 * name and code alone, for a driver's message may quote a record.
 */
export function failureInterceptor(logger: Logger): ActivityInboundCallsInterceptor {
  return {
    async execute(
      input: ActivityExecuteInput,
      next: Next<ActivityInboundCallsInterceptor, 'execute'>,
    ): Promise<unknown> {
      try {
        return await next(input);
      } catch (error) {
        if (error instanceof TemporalFailure || error instanceof CompleteAsyncError) throw error;
        const failure = failureOf(error);
        logger.warn({ type: failure.type, nonRetryable: failure.nonRetryable }, failure.message);
        throw failure;
      }
    },
  };
}

export function failureOf(error: unknown): ApplicationFailure {
  if (isOurs(error)) {
    const nonRetryable = handlingOf(error) === 'stop';
    return ApplicationFailure.create({ message: error.message, type: error.name, nonRetryable });
  }
  const code = codeOf(error);
  if (isDatabaseAway(code)) {
    return ApplicationFailure.create({
      message: `The warehouse does not answer (${code}). Work goes on by itself when it does.`,
      type: 'WarehouseUnavailable',
    });
  }
  const name = error instanceof Error ? error.name : typeof error;
  return ApplicationFailure.create({
    message: `Unexpected ${name}${code === '' ? '' : ` (${code})`}: see the worker's log. It is tried again.`,
    type: 'Unexpected',
  });
}

function isOurs(error: unknown): error is Error {
  return error instanceof Error && 'handling' in error;
}

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
}

/** Classes 08 (connection), 53 (resources), 57P (shutdown) of Postgres, and what the network says. */
function isDatabaseAway(code: string): boolean {
  return (
    /^(08|53|57P)/.test(code) ||
    ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND'].includes(code)
  );
}
