import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';

/** Returns the type and message of an activity's failure, as mapped by the worker. */
export function failureOf(error: unknown): { type: string; message: string } {
  const cause = error instanceof ActivityFailure && error.cause instanceof Error ? error.cause : error;
  if (cause instanceof ApplicationFailure) return { type: cause.type ?? 'Unknown', message: cause.message };
  return { type: 'Unknown', message: cause instanceof Error ? cause.message : String(cause) };
}
