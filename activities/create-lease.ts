import { randomUUID } from 'node:crypto';
import { activityInfo } from '@temporalio/activity';

/**
 * Creates a lease that no other attempt has. An attempt creates it once, for everything that it takes. Its number would not be unique: after
 * an activity's reset, attempts count from 1 again while the first may still run. It begins with the execution, by which `openRunStream` knows it.
 */
export function createLease(): string {
  const { workflowExecution, activityId, attempt } = activityInfo();
  return `${workflowExecution?.runId ?? ''}/${activityId}/${attempt}/${randomUUID()}`;
}
