import { ApprovalOutdated } from '../errors.ts';
import type { WaitingDeletions } from './read-waiting-deletions.ts';

/**
 * The deletions that wait for approval, by resource. The approval repeats what the person was shown, so that it is known what was approved, however
 * late or often the approval comes.
 */
export type DeletionQuestion = Readonly<Record<string, Finding>>;

export interface Finding {
  readonly records: number;
  /** The reconcile that found them; missing in a question that 0.5.0 asked. */
  readonly run?: string;
}

export function buildQuestion(waiting: readonly WaitingDeletions[]): DeletionQuestion {
  return Object.fromEntries(
    waiting.map(({ resource, records, run_id }) => [resource, { records, run: run_id }]),
  );
}

/**
 * Compares the waiting deletions of these resources with the approved ones. Fewer of the same finding are fine, because the rest was deleted or
 * erased since they were shown; so is none at all. Throws ApprovalOutdated if anything else waits.
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
