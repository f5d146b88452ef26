import { fileURLToPath } from 'node:url';
import { checkNodeVersion } from './node-version.mjs';
import { arePackagesInstalled, installPackages } from './npm-packages.mjs';
import { createProgress } from './progress.mjs';
import { ensureTemporalCli, findTemporalCli } from './temporal-cli.mjs';

/**
 * Installs what the checkout needs and does not have yet: npm packages and a Temporal CLI, side by side.
 * Uses nothing but Node, for it runs before there are packages. Throws a sentence that says what is missing.
 *
 * @param {import('node:tty').WriteStream} out
 */
export async function setUp(out = process.stdout) {
  checkNodeVersion(process.versions.node);
  const root = fileURLToPath(new URL('..', import.meta.url));
  const [hasPackages, temporalCli] = await Promise.all([arePackagesInstalled(root), findTemporalCli()]);
  const progress = createProgress(out);
  const results = await Promise.allSettled([
    hasPackages || progress.step('Installing the npm packages', () => installPackages(root)),
    temporalCli ?? progress.step('Getting the Temporal CLI', (report) => ensureTemporalCli({ report })),
  ]);
  const failures = results.filter(({ status }) => status === 'rejected').map(({ reason }) => reason.message);
  if (failures.length > 0) throw new Error(failures.join('\n'));
}
