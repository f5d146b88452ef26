import { isOurs } from '../../errors/is-ours.ts';
import { isTemporalAway } from '../../operations/temporal-client.ts';
import { ActionRefused } from './action.ts';

/**
 * Returns why an action was not done, as a sentence for the page that asked for it. Rethrows any error that is not a refusal: a defect,
 * or an unreachable database.
 */
export function explainRefusal(error: unknown): string {
  if (isTemporalAway(error)) {
    return 'Temporal does not answer, so whether it was started is not known. Look here again once Temporal is back, and try again if it was not; "daybook doctor" says where Temporal is expected.';
  }
  if (error instanceof ActionRefused) return error.message;
  if (isOurs(error)) return error.message;
  throw error;
}
