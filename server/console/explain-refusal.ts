import { ServiceError } from '@temporalio/client';
import { ActionRefused } from './action.ts';

/**
 * Why an action was not done, in a sentence for the page it was asked on. Rethrows what is no refusal: a defect, or a database
 * that is away.
 */
export function explainRefusal(error: unknown): string {
  if (error instanceof ServiceError) {
    return 'Temporal does not answer, so nothing was started. Try again when it does; "daybook doctor" says where it is expected.';
  }
  if (error instanceof ActionRefused) return error.message;
  // Errors of ours say what to do about them.
  if (error instanceof Error && 'handling' in error) return error.message;
  throw error;
}
