import { execFile } from 'node:child_process';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { withoutSecrets } from './without-secrets.mjs';

/** The release that is downloaded, or built from temporal-cli/go.mod. */
export const temporalCliVersion = '1.8.2';

/** SHA-256 of its archives, as published with Temporal's release. A download that does not match is not run. */
export const temporalCliChecksums = {
  darwin_amd64: '489d7f5420cae02b559774ac23df035141954c33a51dba96f5759a0ddccdf1b6',
  darwin_arm64: 'dacdc3587682c04cf27e67c8878ca2d755230b6ad63c0c6ebddd7348ae90ed94',
  linux_amd64: 'd8421bda989e6514b4bdb4d63a9012a8a05a806892e881a5aad8510496349a94',
  linux_arm64: '83600a8fac6e3da54093e5da6918d399f501532b9f1172235603f9606f4ac6e4',
};

/** Major and minor version. Since 1.6, the development server supports fairness between the tenants of a task queue. */
export const oldestTemporalCli = [1, 6];

/** The path of our own copy: outside the checkout, so that a fresh clone need not build it again. */
export const cachedTemporalCli = join(
  process.env.XDG_CACHE_HOME || join(homedir(), '.cache'),
  'daybook',
  `temporal-${temporalCliVersion}`,
  'temporal',
);

/**
 * Returns the version from `temporal --version` (`1.8.2`); undefined if the file is no Temporal CLI or does not run.
 *
 * @param {string} file
 */
export async function versionOf(file) {
  try {
    const { stdout } = await promisify(execFile)(file, ['--version'], {
      timeout: 20_000,
      env: withoutSecrets(process.env),
    });
    return /^temporal version (\S+)/.exec(stdout)?.[1];
  } catch {
    return undefined;
  }
}
