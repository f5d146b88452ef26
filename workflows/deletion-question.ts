import {
  getExternalWorkflowHandle,
  isCancellation,
  ParentClosePolicy,
  patched,
  sleep,
  startChild,
} from '@temporalio/workflow';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import type { DeletionQuestion } from '../activities/plan-reconcile.ts';
import { workflowIds } from '../temporal/workflow-ids.ts';
import { awaitApproval } from './await-approval.ts';

/** The question that a connection's reconciles ask a person, while one of them holds it. */
export interface QuestionInHand {
  /** Notes that a resource was reconciled to its end, and that so many of its records wait for approval, found by this run. */
  settled(resource: string, waiting: number): void;
  /** Whether the question differs from the one before the run. */
  hasChanged(): boolean;
  /** Asks the current question, in place of the earlier one. */
  ask(): Promise<void>;
}

/**
 * Questions about resources that this run does not settle stay open. As long as nothing was asked, this sends Temporal the same commands as 0.5.0,
 * so that workers of either release can take over a reconcile.
 */
export async function takeQuestion(input: {
  connection: string;
  runId: string;
  asked: DeletionQuestion;
}): Promise<QuestionInHand> {
  const { connection, runId } = input;
  const stays = Object.keys(input.asked).length > 0 && patched('question-stays');
  if (!stays) await withdraw(connection);
  const asked = stays ? input.asked : {};
  const settled = new Map<string, number>();
  return {
    settled(resource, waiting) {
      settled.set(resource, waiting);
    },
    hasChanged: () =>
      [...settled].some(([resource, waiting]) => waiting > 0 || asked[resource] !== undefined),
    async ask() {
      const others = Object.entries(asked).filter(([resource]) => !settled.has(resource));
      const own = [...settled].filter(([, waiting]) => waiting > 0);
      const question: DeletionQuestion = Object.fromEntries([
        ...others,
        ...own.map(([resource, records]) => [resource, { records, run: runId }] as const),
      ]);
      if (stays) await withdraw(connection);
      if (Object.keys(question).length > 0) await start(connection, question, stays ? closingTries : 0);
    },
  };
}

/** A withdrawn question closes within a second; an approved one only when its reconcile starts, which then asks anew. */
const closingTries = 10;

async function withdraw(connection: string): Promise<void> {
  try {
    await getExternalWorkflowHandle(workflowIds.approval(connection)).cancel();
  } catch (error) {
    if (isCancellation(error)) throw error;
    // Nothing was asked.
  }
}

async function start(connection: string, question: DeletionQuestion, triesLeft: number): Promise<void> {
  const findings = Object.entries(question);
  try {
    await startChild(awaitApproval, {
      workflowId: workflowIds.approval(connection),
      args: [
        {
          connection,
          waiting: Object.fromEntries(findings.map(([resource, { records }]) => [resource, records])),
          foundBy: Object.fromEntries(findings.map(([resource, { run = '' }]) => [resource, run])),
        },
      ],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      staticSummary: `May these be deleted from ${connection}?`,
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    if (triesLeft === 0) return;
    await sleep('1s', { summary: 'The question before closes: wait for its end' });
    await start(connection, question, triesLeft - 1);
  }
}
