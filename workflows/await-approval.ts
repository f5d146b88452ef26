import {
  CancellationScope,
  condition,
  defineSignal,
  ParentClosePolicy,
  setCurrentDetails,
  setHandler,
  sleep,
  startChild,
} from '@temporalio/workflow';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import type { reconcileConnection } from './reconcile-connection.ts';

export interface AwaitApprovalInput {
  connection: string;
  /** Of each resource, how many records are gone at the source. */
  waiting: Record<string, number>;
}

/** May be sent from the Web UI; it takes no input. */
export const approveDeletesSignal = defineSignal('approveDeletes');

export function approvalId(connection: string): string {
  return `approve-deletes/${connection}`;
}

/**
 * A question to a person: may a reconcile delete so many records? On the signal a reconcile starts that deletes what the
 * stopped one listed, and nothing found since without asking again. Unanswered it ends after a month, or when the next
 * reconcile begins.
 */
export async function awaitApproval({
  connection,
  waiting,
}: AwaitApprovalInput): Promise<{ approved: boolean }> {
  const answer = { approved: false };
  setHandler(
    approveDeletesSignal,
    () => {
      answer.approved = true;
    },
    { description: 'Yes, they are gone at the source: delete them. Takes no input.' },
  );
  const lines = Object.entries(waiting).map(([resource, count]) => `| ${resource} | ${count} |`);
  setCurrentDetails(
    [
      `**${connection}**: these records are gone at the source, and more than a reconcile deletes without asking.`,
      '',
      '| resource | gone |',
      '|---|---:|',
      ...lines,
      '',
      'If that is right, send the signal `approveDeletes`. If not, cancel this workflow: nothing is deleted.',
    ].join('\n'),
  );
  await Promise.race([
    condition(() => answer.approved),
    sleep('30d', { summary: 'Waits for the signal approveDeletes' }),
  ]);
  if (!answer.approved) return answer;
  await reconcileApproved(connection, Object.keys(waiting));
  return answer;
}

/**
 * A reconcile that runs at this moment is waited for. The one that starts withdraws this question; that must not cancel it in
 * turn, as the cancellation of a parent does.
 */
async function reconcileApproved(connection: string, resources: string[]): Promise<void> {
  for (;;) {
    try {
      await CancellationScope.nonCancellable(() =>
        startChild<typeof reconcileConnection>('reconcileConnection', {
          workflowId: `reconcile/${connection}`,
          args: [{ connection, resources, reason: 'deletions approved', approveDeletes: true }],
          parentClosePolicy: ParentClosePolicy.ABANDON,
        }),
      );
      return;
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      await sleep('10s', { summary: 'A reconcile runs: wait for its end' });
    }
  }
}
