import type { Action } from '../action.ts';
import { startOnRequest } from './start-on-request.ts';

export const syncNow: Action = (parts, { params: { connection = '' } }) =>
  startOnRequest(parts, {
    workflow: 'syncConnection',
    workflowId: `sync/${connection}`,
    input: { connection, reason: 'console' },
  });
