import type { Outcome } from './play.ts';

/** The promises, in words, that a run broke whose standby took over. */
export function brokenPromises({ status, wanted, differences }: Outcome): string[] {
  const { afterRun, atEnd } = differences;
  const isForgotten = wanted.before && !wanted.after;
  return [
    ...(endings.includes(status) ? [] : [`It ended otherwise: ${status}`]),
    ...(status === 'succeeded' ? afterRun.map((one) => `It says it succeeded, and differs: ${one}`) : []),
    ...(isForgotten ? afterRun.map((one) => `A reconcile was wanted, and is not any more: ${one}`) : []),
    ...atEnd.map((one) => `It stays so, whatever comes: ${one}`),
  ];
}

/** The possible statuses in the row of a run, which may be lost too; `refused` is that of a command. */
const endings = ['refused', 'succeeded', 'failed', 'partial', 'running', 'no row'];
