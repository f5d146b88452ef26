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
import type { DeletionQuestion } from '../activities/plan-reconcile.ts';
import { workflowIds } from '../temporal/workflow-ids.ts';
import type { reconcileConnection } from './reconcile-connection.ts';

export interface AwaitApprovalInput {
  connection: string;
  /** Of each resource, how many records are gone at the source. */
  waiting: Record<string, number>;
  /** Of each resource, the reconcile that found it out. A question that 0.5.0 asked does not say it. */
  foundBy?: Record<string, string>;
}

/** May be sent from the Web UI; it takes no input. */
export const approveDeletesSignal = defineSignal('approveDeletes');

/**
 * A question to a person: may a reconcile delete so many records? On the signal a reconcile starts that deletes exactly what this
 * question shows, or nothing when something else waits by then. When there is something else to ask, another execution asks
 * it, so this one never means more than it shows. Unanswered it ends after a month.
 */
export async function awaitApproval(input: AwaitApprovalInput): Promise<{ approved: boolean }> {
  const answer = { approved: false };
  setHandler(
    approveDeletesSignal,
    () => {
      answer.approved = true;
    },
    { description: 'Yes, what is shown is gone at the source: delete it. Takes no input.' },
  );
  setCurrentDetails(inWords(input));
  await Promise.race([
    condition(() => answer.approved),
    sleep('30d', { summary: 'Waits for the signal approveDeletes' }),
  ]);
  if (!answer.approved) return answer;
  // An approval that was given stays given: a reconcile that ends meanwhile replaces open questions only.
  if (input.foundBy === undefined) await reconcileApproved(input);
  else await CancellationScope.nonCancellable(() => reconcileApproved(input));
  return answer;
}

function inWords({ connection, waiting, foundBy = {} }: AwaitApprovalInput): string {
  const lines = Object.entries(waiting).map(
    ([resource, count]) => `| ${resource} | ${count} | ${foundBy[resource] ?? ''} |`,
  );
  return [
    `**${connection}**: these records are gone at the source, and more than a reconcile deletes without asking.`,
    '',
    '| resource | gone | found by the reconcile |',
    '|---|---:|---|',
    ...lines,
    '',
    'If that is right, send the signal `approveDeletes`: it approves these, and nothing that is found later. If not, cancel this workflow: nothing is deleted.',
  ].join('\n');
}

/** A reconcile that runs at this moment is waited for. The one that starts goes on without this workflow. */
async function reconcileApproved(input: AwaitApprovalInput): Promise<void> {
  const { connection, waiting } = input;
  const resources = Object.keys(waiting);
  for (;;) {
    try {
      await CancellationScope.nonCancellable(() =>
        startChild<typeof reconcileConnection>('reconcileConnection', {
          workflowId: workflowIds.reconcile(connection),
          args: [{ connection, resources, reason: 'deletions approved', approved: shownBy(input) }],
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

function shownBy({ waiting, foundBy = {} }: AwaitApprovalInput): DeletionQuestion {
  return Object.fromEntries(
    Object.entries(waiting).map(([resource, records]) => {
      const run = foundBy[resource];
      return [resource, run === undefined ? { records } : { records, run }];
    }),
  );
}
