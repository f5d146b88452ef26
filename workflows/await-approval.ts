import {
  ApplicationFailure,
  CancellationScope,
  condition,
  defineSignal,
  defineUpdate,
  ParentClosePolicy,
  setCurrentDetails,
  setHandler,
  sleep,
  startChild,
} from '@temporalio/workflow';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import type { DeletionQuestion } from '../activities/plan-reconcile.ts';
import { signals, updates } from '../temporal/messages.ts';
import { workflowTypes } from '../temporal/start-request.ts';
import { workflowIds } from '../temporal/workflow-ids.ts';
import type { reconcileConnection } from './reconcile-connection.ts';
import { requireInput } from './require-input.ts';

export interface AwaitApprovalInput {
  connection: string;
  /** For each resource, the number of records that are gone at the source. */
  waiting: Record<string, number>;
  /** For each resource, the reconcile that found them. Absent in questions of 0.5.0. */
  foundBy?: Record<string, string>;
}

/** May be sent from the Web UI; it takes no input. */
export const approveDeletesSignal = defineSignal(signals.approveDeletes);

/** The person who approves. */
export interface Approval {
  by?: string;
}

/** The approved deletions, and who approved them. */
export interface Approved {
  approved: DeletionQuestion;
  by: string;
}

/** The same with an answer; `by` becomes part of the reason of the deleting reconcile. Refused once the question is answered. */
export const approveUpdate = defineUpdate<Approved, [Approval]>(updates.approve);

/**
 * Asks a person whether a reconcile may delete so many records. The signal starts a reconcile that deletes exactly the records of this question,
 * or nothing if other deletions wait by then. Another question is asked by another execution, so this one never means more than it shows.
 * It ends after a month without an answer.
 */
export async function awaitApproval(input: AwaitApprovalInput): Promise<Answer> {
  requireInput(input);
  requireQuestion(input);
  const answer: Answer = { approved: false };
  setHandler(
    approveDeletesSignal,
    () => {
      answer.approved = true;
    },
    { description: 'Yes, the records shown are gone at the source: delete them. Takes no input.' },
  );
  setHandler<Approved, [Approval], typeof approveUpdate>(
    approveUpdate,
    (given) => {
      const by = nameIn(given);
      Object.assign(answer, { approved: true, by });
      return { approved: shownBy(input), by };
    },
    {
      validator: () => {
        if (answer.approved) throw new Error('This is approved already.');
      },
      description:
        'Yes, the records shown are gone at the source: delete them. Takes {"by": "your name"}; returns the approved deletions.',
    },
  );
  setCurrentDetails(inWords(input));
  await Promise.race([
    condition(() => answer.approved),
    sleep('30d', { summary: 'Waits for the signal approveDeletes' }),
  ]);
  if (!answer.approved) return answer;
  // A given approval stays given: a reconcile that ends meanwhile only replaces open questions.
  if (input.foundBy === undefined) await reconcileApproved(input, answer);
  else await CancellationScope.nonCancellable(() => reconcileApproved(input, answer));
  return answer;
}

/** Rejects a start by hand, which lacks the facts that only a reconcile knows. */
function requireQuestion({ waiting, foundBy }: { waiting?: unknown; foundBy?: unknown }): void {
  if (isMap(waiting) && (foundBy === undefined || isMap(foundBy))) return;
  throw ApplicationFailure.nonRetryable(
    'The input does not say how many records of which resources are to be approved. A reconcile starts this workflow itself.',
    'UnknownResource',
  );
}

function isMap(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

interface Answer {
  approved: boolean;
  /** Absent if a signal approved. */
  by?: string;
}

/** Limits the name, because the history and the ledger keep everything that a person sends. */
function nameIn(given: unknown): string {
  const { by } = (given ?? {}) as { by?: unknown };
  return typeof by === 'string' && by.trim() !== '' ? by.trim().slice(0, 100) : 'somebody';
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
    'If that is right, send the signal `approveDeletes` or the update `approve` with your name (`{"by": "…"}`): it approves these, and nothing that is found later. If not, cancel this workflow: nothing is deleted.',
  ].join('\n');
}

/**
 * Waits for a running reconcile, for hours if necessary, with backoff: each try takes ten of the 51,200 events that a history may have. The
 * reconcile that it starts outlives this workflow.
 */
async function reconcileApproved(input: AwaitApprovalInput, { by }: Answer): Promise<void> {
  const { connection, waiting } = input;
  const resources = Object.keys(waiting);
  const reason = by === undefined ? 'deletions approved' : `deletions approved by ${by}`;
  for (let seconds = 10; ; seconds = Math.min(2 * seconds, 600)) {
    try {
      await CancellationScope.nonCancellable(() =>
        startChild<typeof reconcileConnection>(workflowTypes.reconcile, {
          workflowId: workflowIds.reconcile(connection),
          args: [{ connection, resources, reason, approved: shownBy(input) }],
          parentClosePolicy: ParentClosePolicy.ABANDON,
        }),
      );
      return;
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      await sleep(`${seconds}s`, { summary: 'A reconcile runs: wait for its end' });
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
