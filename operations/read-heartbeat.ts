import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';

export type { MartsProgress } from '../activities/build-marts.ts';
export type { Exported, ExportProgress } from '../activities/export/export-job.ts';

/** An activity that has begun and not ended. */
export interface ActivityUnderWay<Progress> {
  /** Its last reported progress; undefined if it has reported none. */
  readonly progress: Progress | undefined;
  /** Whether a worker is running it. */
  readonly isTaken: boolean;
  /** Why the previous attempt failed; undefined if it was cut off. */
  readonly failure: string | undefined;
}

/** Returns a workflow's pending activity; undefined if there is none, or no such workflow. */
export async function readActivity<Progress>(
  client: Client,
  { workflowId, temporalRunId }: { workflowId: string; temporalRunId?: string },
): Promise<ActivityUnderWay<Progress> | undefined> {
  const described = await client.workflow
    .getHandle(workflowId, temporalRunId)
    .describe()
    .catch((error: unknown) => {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
      return undefined;
    });
  const [pending] = described?.raw.pendingActivities ?? [];
  if (pending === undefined) return undefined;
  const payload = pending.heartbeatDetails?.payloads?.[0];
  return {
    progress: payload && defaultPayloadConverter.fromPayload<Progress | undefined>(payload),
    isTaken: Number(pending.state) === started,
    failure: pending.lastFailure?.applicationFailureInfo
      ? (pending.lastFailure.message ?? undefined)
      : undefined,
  };
}

/** PENDING_ACTIVITY_STATE_STARTED */
const started = 2;

/** Returns the last reported progress. */
export async function readHeartbeat<Progress>(
  client: Client,
  which: { workflowId: string; temporalRunId?: string },
): Promise<Progress | undefined> {
  return (await readActivity<Progress>(client, which))?.progress;
}
