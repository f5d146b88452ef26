import type { Outcome } from './run-scenario.ts';

/** Describes the invariants that a run broke whose standby took over. */
export function findBrokenInvariants({ status, reconcileWanted, differences }: Outcome): string[] {
  const { afterRun, atEnd } = differences;
  const isForgotten = reconcileWanted.before && !reconcileWanted.after;
  return [
    ...(allowedStatuses.includes(status) ? [] : [`It ended with an unexpected status: ${status}`]),
    ...(status === 'succeeded'
      ? afterRun.map((one) => `It reported success, but the data differ: ${one}`)
      : []),
    ...(isForgotten ? afterRun.map((one) => `A reconcile request was lost: ${one}`) : []),
    ...atEnd.map((one) => `It is never repaired: ${one}`),
  ];
}

/** The allowed statuses in the row of a run, which may be lost too; `refused` is the status of a command. */
const allowedStatuses = ['refused', 'succeeded', 'failed', 'partial', 'running', 'no row'];
