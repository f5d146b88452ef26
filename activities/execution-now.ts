import { activityInfo } from '@temporalio/activity';

/** The workflow execution that the current activity belongs to. */
export function executionNow(): { workflowId: string; runId: string } {
  const { workflowId = '', runId = '' } = activityInfo().workflowExecution ?? {};
  return { workflowId, runId };
}
