import { resumeConnection } from '../../../warehouse/connections/resume-connection.ts';
import { paths } from '../../frame/paths.ts';
import type { Action } from '../action.ts';
import { updateSchedulesIfReachable } from './update-schedules-if-reachable.ts';

export const resume: Action = async (parts, { params: { connection = '' } }) => {
  await resumeConnection(parts.warehouse, { connectionId: connection });
  const later = await updateSchedulesIfReachable(parts, { connectionId: connection, resume: true });
  return { notice: `${connection} is resumed.${later}`, next: paths.connection(connection) };
};
