import { pauseConnection } from '../../../warehouse/connections/pause-connection.ts';
import { paths } from '../../frame/paths.ts';
import { ActionRefused, type Action } from '../action.ts';
import { updateSchedulesIfReachable } from './update-schedules-if-reachable.ts';

export const pause: Action = async (parts, { params: { connection = '' }, form }) => {
  const why = form.get('why')?.trim() ?? '';
  if (why === '') throw new ActionRefused('Say why: whoever finds the connection paused will want to know.');
  await pauseConnection(parts.warehouse, { connectionId: connection, why });
  const later = await updateSchedulesIfReachable(parts, { connectionId: connection });
  return {
    notice: `${connection} is paused. Running work continues.${later}`,
    next: paths.connection(connection),
  };
};
