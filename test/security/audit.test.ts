import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

test('no package in use has a known vulnerability that is high or critical', async ({ skip }) => {
  const audit = await promisify(execFile)('npm', ['audit', '--json'], { cwd: root }).then(
    ({ stdout }) => stdout,
    // npm exits with 1 for findings, and for a registry without advisories.
    (error: unknown) => (error as { stdout: string }).stdout,
  );
  const report = JSON.parse(audit) as Report;
  if (report.metadata === undefined) skip('The registry does not answer audits.');
  expect(report.metadata?.vulnerabilities).toMatchObject({ high: 0, critical: 0 });
});

interface Report {
  /** Missing if the registry keeps no advisories. */
  readonly metadata?: { readonly vulnerabilities: Readonly<Record<string, number>> };
}
