import { CredentialsRefused, isRequestFailure, RecordGone } from '../source/errors.ts';
import type { Asking } from './ask-for-records.ts';
import { handlingOf } from './handling.ts';

/**
 * Whether the fetch of a record failed for a reason of its own: the service answers the fetch of one of the `others`. Throws an error of
 * those that concerns more than a record.
 */
export async function concernsOneAlone(
  error: unknown,
  { others, fetch }: { others: readonly string[]; fetch: Asking['fetch'] },
): Promise<boolean> {
  return mayConcernOne(error) && (await isAnyAnswered(others, fetch));
}

/** A token is refused for all records, and a service that wants to be left alone says so to all. */
function mayConcernOne(error: unknown): boolean {
  return (
    isRequestFailure(error) &&
    !(error instanceof CredentialsRefused) &&
    ['retry', 'stop'].includes(handlingOf(error))
  );
}

const othersAsked = 3;

/** That there is no such record is an answer too. */
async function isAnyAnswered(ids: readonly string[], fetch: Asking['fetch']): Promise<boolean> {
  for (const id of ids.slice(0, othersAsked)) {
    try {
      await fetch(id);
      return true;
    } catch (error) {
      if (error instanceof RecordGone) return true;
      if (!mayConcernOne(error)) throw error;
    }
  }
  return false;
}
