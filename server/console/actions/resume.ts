import { resumeConnection } from '../../../warehouse/connections/resume-connection.ts';
import { paths } from '../../frame/paths.ts';
import type { Action } from '../action.ts';
import { followSchedules } from './follow-schedules.ts';

export const resume: Action = async (parts, { params: { connection = '' } }) => {
  await resumeConnection(parts.warehouse, { connectionId: connection });
  const followed = await followSchedules(parts, { connectionId: connection, resume: true });
  return { notice: `${connection} is resumed.${followed}`, next: paths.connection(connection) };
};
