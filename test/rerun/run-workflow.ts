import { setTimeout as wait } from 'node:timers/promises';
import { WorkflowNotFoundError, type WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { Installation } from '../support/installation.ts';
import type { Start } from './scenario.ts';

/** Starts a workflow under its id as people do, or joins the running one. */
export async function startWorkflow(
  { client }: Pick<Installation, 'client'>,
  { workflow, workflowId, input, signal }: Start,
): Promise<WorkflowHandle> {
  const options = { workflowId, taskQueue: 'daybook', args: [input], ...joining };
  if (signal === undefined) {
    const { firstExecutionRunId } = await client.workflow.start(workflow, options);
    return client.workflow.getHandle(workflowId, firstExecutionRunId);
  }
  const with_ = { ...options, signal, signalArgs: [] };
  const { signaledRunId } = await client.workflow.signalWithStart(workflow, with_);
  return client.workflow.getHandle(workflowId, signaledRunId);
}

const joining = { workflowIdConflictPolicy: 'USE_EXISTING' } as const;

/** Waits until a workflow and those that it starts are over. Returns its outcome: `completed`, or the reason for its failure. */
export async function awaitWorkflow(
  { client }: Pick<Installation, 'client'>,
  handle: WorkflowHandle,
  { followedBy = [], isOver = () => Promise.resolve(true) }: Start,
): Promise<string> {
  const ending = await awaitOutcome(handle);
  for (const workflowId of followedBy) await awaitOutcome(client.workflow.getHandle(workflowId));
  while (!(await isOver())) await wait(50);
  return ending;
}

async function awaitOutcome(handle: WorkflowHandle): Promise<string> {
  try {
    await handle.result();
    return 'completed';
  } catch (error) {
    // A reset at the very end has nothing left to start.
    if (error instanceof WorkflowNotFoundError) return 'never started';
    const cause = error instanceof Error ? error.cause : undefined;
    return cause instanceof ApplicationFailure ? `failed: ${cause.type ?? ''}` : String(cause ?? error);
  }
}
