import { startRequest } from '../../../temporal/start-request.ts';
import { checkApproval, buildQuestion } from '../../../warehouse/reconcile/deletion-question.ts';
import { readWaitingDeletions } from '../../../warehouse/reconcile/read-waiting-deletions.ts';
import { ActionRefused, type Action } from '../action.ts';
import { shownDeletions } from './shown-deletions.ts';
import { startOnRequest } from './start-on-request.ts';

/** Does what `daybook reconcile --approve-deletes` does, for the deletions that the page showed. Refused if others wait by now. */
export const approveDeletions: Action = async (parts, { params: { connection = '' }, form }) => {
  const waiting = await readWaitingDeletions(parts.warehouse, { connectionId: connection });
  if (waiting.length === 0)
    throw new ActionRefused(`No deletions of ${connection} wait for approval any more.`);
  const approved = shownDeletions(form);
  const shown = waiting.filter(({ resource }) => approved[resource] !== undefined);
  const asked = shown.length > 0 ? shown : waiting;
  const resources = asked.map(({ resource }) => resource);
  checkApproval(asked, { connectionId: connection, resources, approved });
  const reason = 'deletions approved in the console';
  return startOnRequest(
    parts,
    startRequest('reconcile', { connection, resources, approved: buildQuestion(asked), reason }, 'people'),
  );
};
