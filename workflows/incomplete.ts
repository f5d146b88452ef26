import type { StreamOutcome } from '../activities/finish-run.ts';

/**
 * Returns the outcomes of a resource's streams if it was not listed completely; undefined if it was. Only a complete listing proves the absence of
 * records, so nothing was compared, and a stream that was listed to its end has proved nothing either.
 */
export function incomplete(listed: readonly StreamOutcome[]): StreamOutcome[] | undefined {
  if (listed.every(({ state }) => state === 'done')) return undefined;
  return listed.map((outcome) => {
    const { stream, state } = outcome;
    if (state !== 'done') return outcome;
    const failure = `${stream} was listed, but another list of the same resource was not, so nothing was compared.`;
    return { stream, state: 'failed', failureType: 'NotCompared', failure };
  });
}
