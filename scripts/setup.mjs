import { fileURLToPath } from 'node:url';
import { checkNodeVersion } from './node-version.mjs';
import { arePackagesInstalled, installPackages } from './npm-packages.mjs';
import { createProgress } from './progress.mjs';
import { ensureTemporalCli, findTemporalCli } from './temporal-cli.mjs';

/**
 * Installs the npm packages and the Temporal CLI that the checkout needs and lacks, in parallel.
 * Uses only Node, because it runs before the packages are installed. Throws an error that says what is missing.
 *
 * @param {(progress: ReturnType<typeof createProgress>) => Promise<unknown>} [then] installs more, once the packages are there
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
