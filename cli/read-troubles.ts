import { ServiceError, type WorkflowHandle } from '@temporalio/client';

/** One or two failures mend themselves; what has failed so often is worth a line. */
const worthTelling = 3;

/** What Temporal keeps trying in vain for a run, in sentences; nothing where Temporal does not answer just now. */
export async function readTroubles(handle: WorkflowHandle): Promise<string[]> {
  const description = await handle.describe().catch(asUnknown);
  return (description?.raw.pendingActivities ?? [])
    .filter(({ attempt, lastFailure }) => (attempt ?? 0) >= worthTelling && Boolean(lastFailure?.message))
    .map(
      ({ activityType, attempt, lastFailure }) =>
        `${activityType?.name ?? 'A step'} has failed ${Number(attempt) - 1} times: ${lastFailure?.message ?? ''}`,
    );
}

function asUnknown(error: unknown): undefined {
  if (!(error instanceof ServiceError)) throw error;
}
