import { startRequest } from '../../../temporal/start-request.ts';
import type { Action } from '../action.ts';
import { startOnRequest } from './start-on-request.ts';

export const reconcileNow: Action = (parts, { params: { connection = '' } }) =>
  startOnRequest(parts, startRequest('reconcile', { connection, reason: 'console' }, 'people'));
