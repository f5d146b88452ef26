import type { Caught } from './check-copy.ts';

const named = (folder: string, ...names: string[]): string[] =>
  names.map((name) => `test/${folder}/${name}.test.ts`);

/** The checks that a copy has to pass, the cheapest first where it matters. They need only a Postgres. */
const checks = [
  ...named('warehouse', 'newest-wins', 'passes', 'restart-pass', 'history', 'identity', 'children'),
  ...named('warehouse', 'dates', 'nulls-and-texts', 'neighbours'),
  ...named('reconcile', 'steps'),
  ...named('deletions', 'tombstones'),
  ...named('backfill', 'plan'),
  ...named('warehouse', 'quarantine', 'quarantine-content', 'field-issues', 'runs', 'digits', 'connections'),
  ...named('warehouse', 'kept-data', 'one-commit', 'order-without-clocks', 'pages-go-round'),
  ...named('warehouse', 'replaced-connection', 'taking-locks'),
  ...named('reconcile', 'ahead', 'recreated-in-flight', 'reset-or-replaced', 'older-within-run', 'no-proof'),
  ...named('replication', 'adopted-tick', 'second-listing', 'late-subscriptions', 'success-in-the-future'),
  ...named(
    'replication',
    'history-in-batches',
    'kept-reconcile-requests',
    'announced-deletions',
    'webhook-races',
  ),
  ...named('replication', 'requests-during-a-reconcile', 'stood-still-in-memory', 'events-again'),
  ...named('replication', 'platform-clock-ahead', 'false-proofs', 'added-again', 'lost-rows'),
  ...named('reconcile', 'recreated', 'late-steps', 'late-settle', 'clocks-and-restores'),
  ...named('replication', 'without-date', 'one-refused-fetch', 'evidence', 'absence', 'left-in-doubt'),
  ...named('replication', 'one-bad-record', 'stood-still', 'hostile-answers'),
  'test/mutation/histories.check.ts',
];

/** Puts first the check that caught most mistakes in the same file, because it is likely to catch the next one. */
export function checksInOrder(caught: readonly (Caught | null)[]): string[] {
  const caughtBy = (check: string): number => caught.filter((one) => one?.check === check).length;
  return [...checks].sort((a, b) => caughtBy(b) - caughtBy(a));
}
