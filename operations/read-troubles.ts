import { ServiceError, WorkflowNotFoundError, type WorkflowHandle } from '@temporalio/client';

/** One or two failures mend themselves; what has failed so often is worth a line. */
const worthTelling = 3;

/** What Temporal keeps trying in vain for a run, in sentences; nothing where Temporal does not answer or know it. */
export async function readTroubles(handle: WorkflowHandle): Promise<string[]> {
  const description = await handle.describe().catch(asUnknown);
  const sentences = (description?.raw.pendingActivities ?? [])
    .filter(({ attempt, lastFailure }) => (attempt ?? 0) >= worthTelling && Boolean(lastFailure?.message))
    .map(
      ({ activityType, attempt, lastFailure }) =>
        `${activityType?.name ?? 'A step'} has failed ${Number(attempt) - 1} times: ${lastFailure?.message ?? ''}`,
    );
  const attempts = description?.raw.pendingWorkflowTask?.attempt ?? 0;
  if (attempts >= worthTelling)
    sentences.unshift(
      `No worker can go on with it: its workflow task has failed ${attempts - 1} times. Run the same, newest release in every worker.`,
    );
  // What stops one stream often stops them all.
  return [...new Set(sentences)];
}

function asUnknown(error: unknown): undefined {
  // A Temporal that was set up anew does not know what was running before.
  if (!(error instanceof ServiceError) && !(error instanceof WorkflowNotFoundError)) throw error;
}
