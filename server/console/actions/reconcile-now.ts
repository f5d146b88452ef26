import type { Action } from '../action.ts';
import { startOnRequest } from './start-on-request.ts';

export const reconcileNow: Action = (parts, { params: { connection = '' } }) =>
  startOnRequest(parts, {
    workflow: 'reconcileConnection',
    workflowId: `reconcile/${connection}`,
    input: { connection, reason: 'console' },
  });
