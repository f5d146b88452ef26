import { checkSecretKey } from '../../../warehouse/secrets/check-secret-key.ts';
import { replayQuarantine, type ReplayedEntry } from '../../../operations/replay-quarantine.ts';
import { paths } from '../../frame/paths.ts';
import { ActionRefused, type Action } from '../action.ts';
import { chosenEntries } from './chosen-entries.ts';

/** Each costs a request to the service, and somebody waits. */
export const mostReplayed = 25;

/** As `daybook quarantine replay ID…` does. */
export const replayEntries: Action = async ({ warehouse, settings }, { form }) => {
  const entries = await chosenEntries(warehouse, form);
  if (entries.length > mostReplayed) {
    throw new ActionRefused(
      `Choose at most ${mostReplayed} entries; "daybook quarantine replay" takes all of them at once.`,
    );
  }
  await checkSecretKey(warehouse, await settings.secretKey());
  const replayed = await replayQuarantine(settings, warehouse, { entries, reason: 'console' });
  return { notice: inWords(replayed), next: paths.quarantine() };
};

function inWords(replayed: readonly ReplayedEntry[]): string {
  const landed = replayed.filter(({ status }) => status === 'landed').length;
  const discarded = replayed.filter(({ status }) => status === 'discarded').length;
  const open = replayed.filter(({ status }) => status === 'open');
  const failure = open.find((entry) => entry.failure !== null)?.failure;
  return [
    `${landed} landed, ${discarded} no longer needed, ${open.length} still open.`,
    ...(failure === undefined || failure === null ? [] : [failure]),
  ].join(' ');
}
