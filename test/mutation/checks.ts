import type { Caught } from './check-copy.ts';

/** What a copy has to pass, the cheapest first where it matters: all of it takes a few seconds, but for the histories. */
const checks = [
  ...[
    'newest-wins',
    'passes',
    'restart-pass',
    'history',
    'identity',
    'children',
    'dates',
    'nulls-and-texts',
  ].map((name) => `test/warehouse/${name}.test.ts`),
  'test/reconcile/steps.test.ts',
  'test/deletions/tombstones.test.ts',
  'test/backfill/plan.test.ts',
  ...['quarantine', 'field-issues', 'runs', 'digits', 'connections', 'kept-data', 'one-commit'].map(
    (name) => `test/warehouse/${name}.test.ts`,
  ),
  'test/mutation/histories.check.ts',
];

/** Puts first what has caught most mistakes in the same file, for it is likely to catch the next one. */
export function checksInOrder(caught: readonly (Caught | null)[]): string[] {
  const caughtBy = (check: string): number => caught.filter((one) => one?.check === check).length;
  return [...checks].sort((a, b) => caughtBy(b) - caughtBy(a));
}
