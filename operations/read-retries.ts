import { WorkflowNotFoundError, type WorkflowHandle } from '@temporalio/client';
import { isTemporalAway } from './temporal-client.ts';

/** One or two failures often pass; a step that has failed this often is reported. */
const minAttempts = 3;

/** Returns a sentence for each step of a run that Temporal keeps retrying; empty if Temporal does not answer or know the run. */
export async function readRetries(handle: WorkflowHandle): Promise<string[]> {
  const description = await handle.describe().catch(asUnknown);
  const sentences = (description?.raw.pendingActivities ?? [])
    .filter(({ attempt, lastFailure }) => (attempt ?? 0) >= minAttempts && Boolean(lastFailure?.message))
    .map(
      ({ activityType, attempt, lastFailure }) =>
        `${activityType?.name ?? 'A step'} has failed ${Number(attempt) - 1} times: ${lastFailure?.message ?? ''}`,
    );
  const attempts = description?.raw.pendingWorkflowTask?.attempt ?? 0;
  if (attempts >= minAttempts)
    sentences.unshift(
      `No worker can continue it: its workflow task has failed ${attempts - 1} times. Run the same, newest release in every worker.`,
    );
  // The same cause often stops all streams.
  return [...new Set(sentences)];
}

function asUnknown(error: unknown): undefined {
  // A Temporal that was set up anew does not know earlier runs.
  if (!isTemporalAway(error) && !(error instanceof WorkflowNotFoundError)) throw error;
}
