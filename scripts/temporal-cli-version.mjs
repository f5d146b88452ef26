import { execFile } from 'node:child_process';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { withoutSecrets } from './without-secrets.mjs';

/** The release that is downloaded, and that temporal-cli/go.mod builds. */
export const temporalCliVersion = '1.8.2';

/** SHA-256 of its archives, as the release of Temporal's published them: a download that is another file is not run. */
export const temporalCliChecksums = {
  darwin_amd64: '489d7f5420cae02b559774ac23df035141954c33a51dba96f5759a0ddccdf1b6',
  darwin_arm64: 'dacdc3587682c04cf27e67c8878ca2d755230b6ad63c0c6ebddd7348ae90ed94',
  linux_amd64: 'd8421bda989e6514b4bdb4d63a9012a8a05a806892e881a5aad8510496349a94',
  linux_arm64: '83600a8fac6e3da54093e5da6918d399f501532b9f1172235603f9606f4ac6e4',
};

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
    const { stdout } = await promisify(execFile)(file, ['--version'], {
      timeout: 20_000,
      env: withoutSecrets(process.env),
    });
    return /^temporal version (\S+)/.exec(stdout)?.[1];
  } catch {
    return undefined;
  }
}
