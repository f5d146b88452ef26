import type { ActivityExecuteInput, ActivityInboundCallsInterceptor, Next } from '@temporalio/worker';
import { ApplicationFailure, TemporalFailure } from '@temporalio/common';
import { activityInfo, CompleteAsyncError } from '@temporalio/activity';
import type { Logger } from 'pino';
import { placeOfFailure } from '../activities/export/place-of-failure.ts';
import { handlingOf } from '../requests/handling.ts';
import { codeOf } from '../errors/code-of.ts';
import { isOurs } from '../errors/is-ours.ts';
import { nameOf } from '../errors/name-of.ts';
import { createRetryDelays } from './retry-delay.ts';
import { isDatabaseAway, whyAway, whyUnwritable } from '../warehouse/session/is-database-away.ts';

/**
 * Turns errors of activities into failures for Temporal and for people. The type is the name of the error's class, and errors that say
 * "stop" are not retried. A history gets only messages of our own: of other errors it gets the name, the code and the place, because a
 * driver's message may quote a record.
 */
export function failureInterceptor(
  logger: Logger,
  onFailure: (error: unknown) => void,
): ActivityInboundCallsInterceptor {
  const retryDelayOf = createRetryDelays();
  return {
    async execute(
      input: ActivityExecuteInput,
      next: Next<ActivityInboundCallsInterceptor, 'execute'>,
    ): Promise<unknown> {
      try {
        return await next(input);
      } catch (error) {
        if (error instanceof TemporalFailure || error instanceof CompleteAsyncError) throw error;
        onFailure(error);
        const failure = asApplicationFailure(error);
        logger.warn(
          { type: failure.type, ...(failure.type === 'Unexpected' ? describeTrace(error) : {}) },
          failure.message,
        );
        const { activityType, attempt, workflowExecution } = activityInfo();
        const workflowId = workflowExecution?.workflowId ?? '';
        const nextRetryDelay = retryDelayOf({ activityType, attempt, workflowId });
        throw nextRetryDelay === undefined
          ? failure
          : ApplicationFailure.fromError(failure, { nextRetryDelay });
      }
    },
  };
}

export function asApplicationFailure(error: unknown): ApplicationFailure {
  if (isOurs(error)) {
    const nonRetryable = handlingOf(error) === 'stop';
    return ApplicationFailure.create({ message: error.message, type: error.name, nonRetryable });
  }
  if (isDatabaseAway(error)) {
    const why = whyUnwritable(error);
    const happened = why === undefined ? `does not answer (${whyAway(error)})` : `cannot be written: ${why}`;
    return ApplicationFailure.create({
      message: `The warehouse ${happened}. Work resumes by itself afterwards.`,
      type: 'WarehouseUnavailable',
    });
  }
  const known = [String(codeOf(error) ?? ''), placeOfFailure(error)]
    .filter((text) => text !== '')
    .join(' in ');
  const name = nameOf(error);
  return ApplicationFailure.create({
    message: `Unexpected ${name}${known === '' ? '' : ` (${known})`}: see the worker's log. It will be retried.`,
    type: 'Unexpected',
  });
}

/** Returns details for debugging. A database's message may quote a record, so only the code and the place of its errors are logged. */
function describeTrace(error: unknown): object {
  if (!(error instanceof Error)) return {};
  if (!('severity' in error)) return { stack: error.stack };
  const { code, table, constraint, routine } = error as Error & Record<string, unknown>;
  return { code, table, constraint, routine, stack: error.stack?.replace(error.message, '…') };
}
