import { randomUUID } from 'node:crypto';
import { activityInfo } from '@temporalio/activity';

/**
 * A lease that no other attempt has, made once for whatever the attempt takes. Its number does not tell: once somebody resets an activity, its
 * attempts are counted from 1 again, while the first may still be on its way. It begins with the execution, by which `openRunStream` knows it.
 */
export function createLease(): string {
  const { workflowExecution, activityId, attempt } = activityInfo();
  return `${workflowExecution?.runId ?? ''}/${activityId}/${attempt}/${randomUUID()}`;
}
