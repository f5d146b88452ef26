import { execFile } from 'node:child_process';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** The release that is downloaded, and that temporal-cli/go.mod builds. */
export const temporalCliVersion = '1.8.2';

/** Major and minor. From 1.6 on the development server knows fairness between task queues' tenants. */
export const oldestTemporalCli = [1, 6];

/** Where our own copy is kept: outside of the checkout, so that a fresh clone need not build it again. */
export const cachedTemporalCli = join(
  process.env.XDG_CACHE_HOME || join(homedir(), '.cache'),
  'daybook',
  `temporal-${temporalCliVersion}`,
  'temporal',
);

/**
 * What `temporal --version` says (`1.8.2`), undefined when the file is no Temporal CLI or does not run.
 *
 * @param {string} file
 */
export async function versionOf(file) {
  try {
    const { stdout } = await promisify(execFile)(file, ['--version'], { timeout: 20_000 });
    return /^temporal version (\S+)/.exec(stdout)?.[1];
  } catch {
    return undefined;
  }
}
