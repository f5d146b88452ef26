import { defaultPayloadConverter } from '@temporalio/common';
import type { Client } from '@temporalio/client';

/**
 * Reads the names of the resources of a connection's run from the input in its history: it may have been started in the Web UI, by a schedule,
 * or by an earlier release. Empty: all.
 */
export async function readResourcesOfRun(
  temporal: Client,
  execution: { workflowId: string; runId: string },
): Promise<readonly string[]> {
  const { history } = await temporal.workflowService.getWorkflowExecutionHistory({
    namespace: temporal.options.namespace,
    execution,
    maximumPageSize: 1,
  });
  const [payload] = history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  const input =
    payload === undefined
      ? undefined
      : defaultPayloadConverter.fromPayload<{ resources?: unknown } | null>(payload);
  const named = input?.resources;
  return Array.isArray(named) ? named.filter((name) => typeof name === 'string') : [];
}
