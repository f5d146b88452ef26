import { isOurs } from '../../errors/is-ours.ts';
import { isTemporalAway } from '../../operations/temporal-client.ts';
import { ActionRefused } from './action.ts';

/**
 * Why an action was not done, in a sentence for the page it was asked on. Rethrows what is no refusal: a defect, or a database
 * that is away.
 */
export function explainRefusal(error: unknown): string {
  if (isTemporalAway(error)) {
    return 'Temporal does not answer, so whether it was started is not known. Look here again once Temporal is back, and try again if it was not; "daybook doctor" says where Temporal is expected.';
  }
  if (error instanceof ActionRefused) return error.message;
  if (isOurs(error)) return error.message;
  throw error;
}
