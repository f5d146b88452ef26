import { ApplicationFailure } from '@temporalio/workflow';

/**
 * Ends a run that was started by hand without an input. Reading a member of nothing would be an error of the workflow's code, and Temporal
 * would try the task again until the run times out.
 */
export function requireInput(input: unknown): void {
  if (typeof input === 'object' && input !== null) return;
  throw ApplicationFailure.nonRetryable(
    'The input names no connection: it is one JSON object, such as {"connection":"acme-us"}.',
    'UnknownConnection',
  );
}
