import type { WorkflowHandle } from '@temporalio/client';
import { createChance } from '../day/chance.ts';
import type { Installation } from '../support/installation.ts';
import { isWholeProof } from '../support/proof-test.ts';
import { readTaskEventIds } from '../support/reset.ts';

/** All elements with `TEST_PROOF=all`, else a few. */
export function pickSample<T>(name: string, all: readonly T[], few: number): readonly T[] {
  return isWholeProof ? all : createChance(`${name} 1`).pickSome(all, few);
}

/** A workflow task of an execution, counted from its start. */
export interface Point {
  readonly execution: WorkflowHandle;
  readonly task: number;
}

/** Every point that a workflow can be reset to, including those of the executions that continued it. */
export async function findPoints(
  { client }: Pick<Installation, 'client'>,
  first: WorkflowHandle,
): Promise<Point[]> {
  const points: Point[] = [];
  let runId: string | undefined = (await first.describe()).runId;
  while (runId !== undefined) {
    const execution = client.workflow.getHandle(first.workflowId, runId);
    const tasks = await readTaskEventIds(execution);
    points.push(...tasks.map((_, task) => ({ execution, task })));
    runId = await findContinuation(execution);
  }
  return points;
}

async function findContinuation(execution: WorkflowHandle): Promise<string | undefined> {
  const { events } = await execution.fetchHistory();
  return events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? undefined;
}
