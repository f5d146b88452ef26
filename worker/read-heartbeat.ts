import type { Client } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';

/** What the activity that is under way said last of how far it is; undefined when none has said anything. */
export async function readHeartbeat<Progress>(
  client: Client,
  { workflowId, temporalRunId }: { workflowId: string; temporalRunId?: string },
): Promise<Progress | undefined> {
  const { raw } = await client.workflow.getHandle(workflowId, temporalRunId).describe();
  const payload = raw.pendingActivities?.[0]?.heartbeatDetails?.payloads?.[0];
  return payload && defaultPayloadConverter.fromPayload<Progress | undefined>(payload);
}
