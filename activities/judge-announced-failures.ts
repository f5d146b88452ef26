import type { Asking } from '../requests/ask-for-records.ts';
import { concernsOneAlone } from '../requests/concerns-one-alone.ts';
import { handlingOf } from '../requests/handling.ts';

/** After so many in a row, where it answers for no other record either, the service is taken to be down. */
const failuresInRow = 3;

/** A record that webhooks have named and that could not be asked for. */
export interface FailedRecord {
  readonly id: string;
  readonly error: Error;
}

/**
 * What follows from the failures among records that were asked for at once: nothing for the others while the service answers for one
 * that is `held` and is none of them. `inRow`: how many have failed without an answer in between. Throws a refusal or a request for a
 * pause that the others get too, and what concerns more than a record.
 */
export async function judgeAnnouncedFailures(
  failed: readonly FailedRecord[],
  { inRow, held, fetch }: { inRow: number; held: () => Promise<readonly string[]>; fetch: Asking['fetch'] },
): Promise<'answers' | 'may be down' | 'is down'> {
  const refusal = failed.find(({ error }) => handlingOf(error) !== 'retry');
  const isInDoubt = inRow >= failuresInRow;
  const suspect = refusal ?? (isInDoubt ? failed.at(-1) : undefined);
  if (suspect === undefined) return failed.length === 0 ? 'answers' : 'may be down';
  const others = (await held()).filter((id) => !failed.some((one) => one.id === id));
  if (await concernsOneAlone(suspect.error, { others, fetch })) return 'answers';
  if (refusal !== undefined) throw refusal.error;
  return 'is down';
}
