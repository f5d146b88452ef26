import { defaultPayloadConverter } from '@temporalio/common';
import type { Client } from '@temporalio/client';
import { resourceNames } from '../resources/index.ts';
import type { StartedRun } from './start-run.ts';

/**
 * The resources that a run of a connection was asked for, by the input in its history: it may have been started in the Web UI, by a schedule, or
 * by an earlier release.
 */
export async function resourcesOfRun(
  client: Client,
  { workflowId, temporalRunId }: StartedRun,
): Promise<readonly string[]> {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId, runId: temporalRunId },
    maximumPageSize: 1,
  });
  const [payload] = history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  if (payload === undefined) return resourceNames;
  const { resources = [] } = defaultPayloadConverter.fromPayload<{ resources?: string[] }>(payload);
  return resources.length === 0 ? resourceNames : resources;
}
