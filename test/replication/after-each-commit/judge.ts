import type { Outcome } from './play.ts';

/** The promises that a run has broken whose standby took over, each in words. */
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

/** As the row of a run has it, which may be lost too; or of a command that was refused. */
const endings = ['refused', 'succeeded', 'failed', 'partial', 'running', 'no row'];
