import { fileURLToPath } from 'node:url';
import { checkNodeVersion } from './node-version.mjs';
import { arePackagesInstalled, installPackages } from './npm-packages.mjs';
import { createProgress } from './progress.mjs';
import { ensureTemporalCli, findTemporalCli } from './temporal-cli.mjs';

/**
 * Installs what the checkout needs and does not have yet: npm packages and a Temporal CLI, side by side.
 * Uses nothing but Node, for it runs before there are packages. Throws a sentence that says what is missing.
 *
 * @param {(progress: ReturnType<typeof createProgress>) => Promise<unknown>} [then] what else is installed, once the packages are there
 */
export async function setUp(then = async () => undefined) {
  checkNodeVersion(process.versions.node);
  const root = fileURLToPath(new URL('..', import.meta.url));
  const [hasPackages, temporalCli] = await Promise.all([arePackagesInstalled(root), findTemporalCli()]);
  const progress = createProgress(process.stdout);
  const installed = async () => {
    if (!hasPackages) await progress.step('Installing the npm packages', () => installPackages(root));
    await then(progress);
  };
  const results = await Promise.allSettled([
    installed(),
    temporalCli ?? progress.step('Getting the Temporal CLI', (report) => ensureTemporalCli({ report })),
  ]);
  const failures = results.filter(({ status }) => status === 'rejected').map(({ reason }) => reason.message);
  if (failures.length > 0) throw new Error(failures.join('\n'));
}
