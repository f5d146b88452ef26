import { pauseConnection } from '../../../warehouse/connections/pause-connection.ts';
import { paths } from '../../frame/paths.ts';
import { ActionRefused, type Action } from '../action.ts';
import { followSchedules } from './follow-schedules.ts';

export const pause: Action = async (parts, { params: { connection = '' }, form }) => {
  const why = form.get('why')?.trim() ?? '';
  if (why === '') throw new ActionRefused('Say why: whoever finds the connection paused will want to know.');
  await pauseConnection(parts.warehouse, { connectionId: connection, why });
  const followed = await followSchedules(parts, { connectionId: connection });
  return {
    notice: `${connection} is paused. Running work continues.${followed}`,
    next: paths.connection(connection),
  };
};
