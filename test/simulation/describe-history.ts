import { isIncident, type Change, type Episode, type History, type Standstill } from './history.ts';

/** Describes a history in words, to show what it takes to break a promise. */
export function describeHistory(history: History): string {
  const { episodes, ...things } = history;
  return [
    Object.entries(things)
      .map(([name, value]) => `${name} ${String(value)}`)
      .join(', '),
    ...episodes.flatMap(describeEpisode),
  ].join('\n');
}

function describeEpisode(
  { before, faults, runs, beside = [], meanwhile, kills, standstill, schedule }: Episode,
  index: number,
): string[] {
  return [
    `Episode ${index + 1}: ${[...runs, ...beside.map(({ company, run }) => `${run} of company ${company + 1}`)].join(' beside ')} (schedule ${schedule})`,
    ...before.map((change) => `  first: ${describeChange(change)}`),
    ...faults.map(
      ({ kind, after, times, path }) => `  fault: ${kind}, ${times} times after ${after} requests to ${path}`,
    ),
    ...meanwhile.map(({ step, change }) => `  at step ${step}: ${describeChange(change)}`),
    ...kills.map(({ step, how, stepsLeft }) =>
      how === 'lose'
        ? `  at step ${step}: the next commit of the process is lost with a failover`
        : how === 'give up'
          ? `  at step ${step}: the process is given up and continues for ${stepsLeft} steps`
          : `  at step ${step}: the process is killed ${how} it`,
    ),
    ...(standstill === null ? [] : describeStandstill(standstill)),
  ];
}

function describeStandstill({ answers, changes, steps, stepsLeft }: Standstill): string[] {
  return [
    `  the first run stands still after ${answers} answers, until others took ${steps} steps${stepsLeft === null ? '' : `; its process is given up, and dies after ${stepsLeft} more`}`,
    ...changes.map((change) => `    at that moment: ${describeChange(change)}`),
  ];
}

function describeChange({
  what,
  which,
  count,
  milliseconds,
  webhook,
  company = 0,
  minutes = 0,
}: Change): string {
  const whose = company === 0 ? '' : `company ${company + 1}: `;
  if (isIncident(what)) return `${whose}${milliseconds} ms later ${what} (${which}), ${minutes} min`;
  return `${whose}${milliseconds} ms later ${what}, ${count} from ${which}, webhook ${webhook}`;
}
