import { startRequest } from '../../../temporal/start-request.ts';
import type { Action } from '../action.ts';
import { startOnRequest } from './start-on-request.ts';

export const syncNow: Action = (parts, { params: { connection = '' } }) =>
  startOnRequest(parts, startRequest('sync', { connection, reason: 'console' }, 'people'));
