import {
  CredentialsRefused,
  isLimitOfService,
  isRequestFailure,
  RateLimited,
  RecordGone,
} from '../source/errors.ts';
import type { Asking } from './ask-for-records.ts';

/**
 * Whether the fetch of a record failed for a reason of its own: the service answers the fetch of one of the `others`. Throws an error of
 * the others if it concerns more than a record.
 */
export async function concernsOneAlone(
  error: unknown,
  { others, fetch }: { others: readonly string[]; fetch: Asking['fetch'] },
): Promise<boolean> {
  return mayConcernOne(error) && (await isAnyAnswered(others, fetch));
}

/** A token is refused for all records, and the service's own limit applies to the organization. A platform may refuse a single record. */
export function mayConcernOne(error: unknown): boolean {
  return isRequestFailure(error) && !(error instanceof CredentialsRefused) && !isLimitOfService(error);
}

/** Whether the service may answer for another resource, though it answers for no record of this one. 452 is the limit of the whole platform. */
export function mayConcernResource(error: unknown): boolean {
  return mayConcernOne(error) && !(error instanceof RateLimited);
}

const othersAsked = 3;

/** A response that there is no such record is an answer too. */
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
