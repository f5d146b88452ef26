import { checkSecretKey } from '../../../warehouse/secrets/check-secret-key.ts';
import { replayQuarantine, type ReplayedEntry } from '../../../operations/replay-quarantine.ts';
import { paths } from '../../frame/paths.ts';
import { ActionRefused, type Action } from '../action.ts';
import { chosenEntries } from './chosen-entries.ts';

/** Each entry costs one API request while a person waits. */
export const mostReplayed = 25;

/**
 * Does what `daybook quarantine replay ID…` does, within a time limit. Entries not answered by then stay open: the service may take a minute
 * per answer, and a person is waiting.
 */
export function replayWithin(milliseconds: number): Action {
  return async ({ warehouse, settings }, { form }) => {
    const entries = await chosenEntries(warehouse, form);
    if (entries.length > mostReplayed) {
      throw new ActionRefused(
        `Choose at most ${mostReplayed} entries; "daybook quarantine replay" takes all of them at once.`,
      );
    }
    await checkSecretKey(warehouse, await settings.secretKey());
    const ending = new AbortController();
    const outOfTime = new OutOfTime(milliseconds);
    const timer = setTimeout(() => {
      ending.abort(outOfTime);
    }, milliseconds);
    try {
      const { signal } = ending;
      const replayed = await replayQuarantine(settings, warehouse, { entries, reason: 'console', signal });
      return { notice: inWords(replayed, outOfTime), next: paths.quarantine() };
    } finally {
      clearTimeout(timer);
    }
  };
}

/** Stops a replay whose time is up; the remaining entries were not requested. */
class OutOfTime extends Error {
  override readonly name = 'OutOfTime';
  readonly handling = 'stop';

  constructor(milliseconds: number) {
    super(
      `A replay in the console ends after ${milliseconds / 1_000} s: replay the rest again, or with "daybook quarantine replay", which waits ` +
        'for as long as the service takes.',
    );
  }
}

function inWords(replayed: readonly ReplayedEntry[], outOfTime: OutOfTime): string {
  const landed = replayed.filter(({ status }) => status === 'landed').length;
  const discarded = replayed.filter(({ status }) => status === 'discarded').length;
  const open = replayed.filter(({ status }) => status === 'open');
  const late = open.filter(({ failure }) => failure === outOfTime.message).length;
  const failure = open.find(
    (entry) => entry.failure !== null && entry.failure !== outOfTime.message,
  )?.failure;
  return [
    `${landed} landed, ${discarded} no longer needed, ${open.length} still open.`,
    ...(late > 0
      ? [`The service was not asked for ${late} of them, or had not answered.`, outOfTime.message]
      : []),
    ...(failure === undefined || failure === null ? [] : [failure]),
  ].join(' ');
}
