import { readNow } from '../../../operations/read-now.ts';
import type { ReadsIn } from '../../../temporal/messages.ts';
import { startRun } from '../../../operations/start-run.ts';
import { startRequest } from '../../../temporal/start-request.ts';
import { paths } from '../../frame/paths.ts';
import type { Action } from '../action.ts';
import { answerMilliseconds, startedNotice } from './start-on-request.ts';

/** Starts a sync. If one is running, it is asked to read the current data of the source as well. */
export const syncNow: Action = async (
  { temporal: client, warehouse, settings },
  { params: { connection = '' } },
) => {
  const request = startRequest('sync', { connection, reason: 'console' }, 'people');
  const { joined, readsIn } = await client.withDeadline(Date.now() + answerMilliseconds, async () => {
    const { joined, temporalRunId } = await startRun({ client, warehouse, settings }, request);
    return { joined, readsIn: joined ? await readNow(client, { connection, temporalRunId }) : undefined };
  });
  return {
    notice: `${startedNotice(request, joined)}${readsIn === undefined ? '' : inWords[readsIn]}`,
    next: paths.connection(connection),
  };
};

const inWords: Readonly<Record<ReadsIn, string>> = {
  'this run': ' It reads what is at the source now.',
  'the run that follows it': ' Another one follows it at once, and reads what is at the source now.',
};
