import { leaveUndecided, noteFetchFailing } from '../warehouse/reconcile/fetches-failing.ts';
import type { RunScope } from '../warehouse/record-scope.ts';
import type { Asking } from '../requests/ask-for-records.ts';
import { concernsOneAlone } from '../requests/concerns-one-alone.ts';
import type { Dependencies } from './dependencies.ts';
import { handlingOf } from '../requests/handling.ts';

/**
 * Decides about a record whose fetch failed while the service answers the fetch of another. If a retry may help, it is retried for as long
 * as DAYBOOK_GIVE_UP_AFTER; then it stays undecided in this run, and the others are settled without it. Throws the error if no other fetch
 * is answered, or if it concerns more than this record.
 */
export async function judgeFetchFailure(
  { warehouse, policies }: Pick<Dependencies, 'warehouse' | 'policies'>,
  failed: { of: RunScope; id: string; error: unknown; others: readonly string[]; fetch: Asking['fetch'] },
): Promise<'again' | 'undecided'> {
  const { of, id, error, others, fetch } = failed;
  if (!(await concernsOneAlone(error, { others, fetch }))) throw error;
  const failingMilliseconds = await noteFetchFailing(warehouse, of, id);
  if (handlingOf(error) !== 'stop' && failingMilliseconds <= policies.giveUpAfterMilliseconds) return 'again';
  await leaveUndecided(warehouse.pool, of, id);
  return 'undecided';
}
