import { ApprovalOutdated } from '../errors.ts';
import type { WaitingDeletions } from './read-waiting-deletions.ts';

/**
 * What waits for approval, by resource. A person is shown it, and the approval repeats it: so it is known what was approved,
 * however late or often the approval comes.
 */
export type DeletionQuestion = Readonly<Record<string, Finding>>;

export interface Finding {
  readonly records: number;
  /** The reconcile that found them. A question that 0.5.0 asked does not say it. */
  readonly run?: string;
}

export function questionOf(waiting: readonly WaitingDeletions[]): DeletionQuestion {
  return Object.fromEntries(
    waiting.map(({ resource, records, run_id }) => [resource, { records, run: run_id }]),
  );
}

/**
 * Compares what waits of these resources with what was approved. Fewer of the same finding are fine: the others were deleted,
 * or erased, since they were shown. So is nothing at all. Throws ApprovalOutdated when anything else waits.
 */
export function checkApproval(
  waiting: readonly WaitingDeletions[],
  input: { connectionId: string; resources: readonly string[]; approved: DeletionQuestion },
): void {
  const { connectionId, resources, approved } = input;
  const others = waiting.filter(
    (one) => resources.includes(one.resource) && !isCovered(one, approved[one.resource]),
  );
  if (others.length > 0) throw new ApprovalOutdated(connectionId, { waiting: others, approved });
}

function isCovered({ run_id, records }: WaitingDeletions, approved: Finding | undefined): boolean {
  return approved?.run === run_id && records <= approved.records;
}
