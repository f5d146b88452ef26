import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';

export type { MartsProgress } from '../activities/build-marts.ts';
export type { Exported, ExportProgress } from '../activities/export/export-job.ts';

/**
 * What the activity that is under way said last of how far it is; undefined when none has said anything, and when there is no
 * such workflow.
 */
export async function readHeartbeat<Progress>(
  client: Client,
  { workflowId, temporalRunId }: { workflowId: string; temporalRunId?: string },
): Promise<Progress | undefined> {
  const described = await client.workflow
    .getHandle(workflowId, temporalRunId)
    .describe()
    .catch((error: unknown) => {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
      return undefined;
    });
  const payload = described?.raw.pendingActivities?.[0]?.heartbeatDetails?.payloads?.[0];
  return payload && defaultPayloadConverter.fromPayload<Progress | undefined>(payload);
}
