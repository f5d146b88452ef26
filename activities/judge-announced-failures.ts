import { mostTries } from '../warehouse/webhooks/close-webhooks.ts';
import type { WaitingRecord } from '../warehouse/webhooks/waiting-webhooks.ts';
import { isAnswer, SourceUnavailable } from '../source/errors.ts';
import type { Asking } from '../requests/ask-for-records.ts';
import { concernsOneAlone, mayConcernResource } from '../requests/concerns-one-alone.ts';
import { handlingOf } from '../requests/handling.ts';

/** After this many consecutive failures, the service is taken to be down if it answers for no other record either. */
const failuresInRow = 3;

/** A record that webhooks have named and that could not be fetched. */
export type FailedRecord = WaitingRecord & { readonly error: Error };

/**
 * Judges the failures among records of one resource that were fetched together. They do not affect the others while the service answers for a
 * record that is `held` and not among them. `inRow`: consecutive failures without an answer in between. Returns the error that every record
 * of the resource gets; throws errors that concern more than a resource.
 */
export async function judgeAnnouncedFailures(
  failed: readonly FailedRecord[],
  { inRow, held, fetch }: { inRow: number; held: () => Promise<readonly string[]>; fetch: Asking['fetch'] },
): Promise<'answers' | 'may be down' | Error> {
  const refusal = failed.find(({ error }) => handlingOf(error) !== 'retry');
  const isInDoubt = inRow >= failuresInRow || failed.some(({ tries }) => tries >= mostTries);
  const suspect = refusal ?? (isInDoubt ? failed.at(-1) : undefined);
  if (suspect === undefined) return failed.length === 0 ? 'answers' : 'may be down';
  // Requests that hang take a minute each: no others are sent. What failed comes after all that was not tried yet.
  if (suspect.error instanceof SourceUnavailable && !isAnswer(suspect.error)) return suspect.error;
  const others = (await held()).filter((id) => !failed.some((one) => one.id === id));
  if (await concernsOneAlone(suspect.error, { others, fetch })) return 'answers';
  if (!mayConcernResource(suspect.error)) throw suspect.error;
  return suspect.error;
}
