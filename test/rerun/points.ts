import type { WorkflowHandle } from '@temporalio/client';
import { chanceOf } from '../day/chance.ts';
import type { Installation } from '../support/installation.ts';
import { isWholeProof } from '../support/proof-test.ts';
import { tasksOf } from '../support/reset.ts';

/** All elements with `TEST_PROOF=all`, else a few. */
export function chosen<T>(name: string, all: readonly T[], few: number): readonly T[] {
  return isWholeProof ? all : chanceOf(`${name} 1`).someOf(all, few);
}

/** A workflow task of an execution, counted from its start. */
export interface Point {
  readonly execution: WorkflowHandle;
  readonly task: number;
}

/** Every point that a workflow can be reset to, including those of the executions that continued it. */
export async function pointsOf(
  { client }: Pick<Installation, 'client'>,
  first: WorkflowHandle,
): Promise<Point[]> {
  const points: Point[] = [];
  let runId: string | undefined = (await first.describe()).runId;
  while (runId !== undefined) {
    const execution = client.workflow.getHandle(first.workflowId, runId);
    const tasks = await tasksOf(execution);
    points.push(...tasks.map((_, task) => ({ execution, task })));
    runId = await continuationOf(execution);
  }
  return points;
}

async function continuationOf(execution: WorkflowHandle): Promise<string | undefined> {
  const { events } = await execution.fetchHistory();
  return events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? undefined;
}
