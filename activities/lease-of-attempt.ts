import { activityInfo } from '@temporalio/activity';

/** The lease by which the attempt that runs now is told from every other. */
export function leaseOfAttempt(): string {
  const { workflowExecution, activityId, attempt } = activityInfo();
  return `${workflowExecution?.runId ?? ''}/${activityId}/${attempt}`;
}
