import { readWaitingDeletions } from '../../../warehouse/reconcile/read-waiting-deletions.ts';
import { ActionRefused, type Action } from '../action.ts';
import { startOnRequest } from './start-on-request.ts';

/** As `daybook reconcile --approve-deletes` does, for the resources of which something waits. */
export const approveDeletions: Action = async (parts, { params: { connection = '' } }) => {
  const waiting = await readWaitingDeletions(parts.warehouse, { connectionId: connection });
  if (waiting.length === 0)
    throw new ActionRefused(`No deletions of ${connection} wait for approval any more.`);
  return startOnRequest(parts, {
    workflow: 'reconcileConnection',
    workflowId: `reconcile/${connection}`,
    input: {
      connection,
      resources: waiting.map(({ resource }) => resource),
      approveDeletes: true,
      reason: 'deletions approved in the console',
    },
  });
};
