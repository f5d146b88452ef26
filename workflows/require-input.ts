import { ApplicationFailure } from '@temporalio/workflow';

/**
 * Ends a run that was started by hand without an input, or with `resources` that are not a list. Otherwise the workflow code would throw a
 * TypeError, and Temporal would retry the task until the run times out.
 */
export function requireInput(input: unknown): void {
  if (typeof input !== 'object' || input === null)
    throw ApplicationFailure.nonRetryable(
      'The input names no connection: it must be one JSON object, such as {"connection":"acme-us"}.',
      'UnknownConnection',
    );
  if ('resources' in input && !isListOfNames(input.resources))
    throw ApplicationFailure.nonRetryable(
      '"resources" must be a list of names, such as ["bills"]; leave it out for all resources.',
      'UnknownResource',
    );
}

function isListOfNames(resources: unknown): boolean {
  return Array.isArray(resources) && resources.every((name) => typeof name === 'string');
}
