import type { Client } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import type { ExportProgress } from '../activities/export/export-job.ts';
import { exportWorkflowId } from './start-export.ts';

export type { Exported, ExportProgress } from '../activities/export/export-job.ts';

/** How far an export is, by its last heartbeat; undefined before the first. */
export async function readExportProgress(
  client: Client,
  temporalRunId: string,
): Promise<ExportProgress | undefined> {
  const { raw } = await client.workflow.getHandle(exportWorkflowId, temporalRunId).describe();
  const payload = raw.pendingActivities?.[0]?.heartbeatDetails?.payloads?.[0];
  return payload && defaultPayloadConverter.fromPayload<ExportProgress | undefined>(payload);
}
