import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { installTemporalCli } from './install-temporal-cli.mjs';
import { temporalCliChecksums, temporalCliVersion } from './temporal-cli-version.mjs';

/**
 * Downloads the release from Temporal's GitHub page. Only the archive whose SHA-256 is pinned here is unpacked.
 *
 * @param {string} target
 * @param {(progress: string) => void} report
 */
export async function downloadTemporalCli(target, report) {
  const platform = `${process.platform}_${{ x64: 'amd64', arm64: 'arm64' }[process.arch] ?? process.arch}`;
  const archive = `temporal_cli_${temporalCliVersion}_${platform}.tar.gz`;
  const release = `https://github.com/temporalio/cli/releases/download/v${temporalCliVersion}`;
  report('downloading');
  try {
    return await installTemporalCli(target, async (folder) => {
      const content = await fetchBytes(`${release}/${archive}`);
      checkArchive(platform, content);
      await writeFile(join(folder, archive), content);
      await promisify(execFile)('tar', [
        '--no-same-owner',
        '-xzf',
        join(folder, archive),
        '-C',
        folder,
        'temporal',
      ]);
    });
  } catch (error) {
    throw new Error(`Downloading ${release}/${archive} failed (${error.cause?.message ?? error.message}).`, {
      cause: error,
    });
  }
}

/**
 * Throws if an archive does not match the checksum pinned for the platform.
 *
 * @param {string} platform
 * @param {Uint8Array} content
 */
export function checkArchive(platform, content) {
  const pinned = temporalCliChecksums[platform];
  if (pinned === undefined) throw new Error(`there is no pinned release for ${platform}`);
  if (createHash('sha256').update(content).digest('hex') !== pinned)
    throw new Error('it is not the file that is pinned');
}

/** Gives up after 5 s without an answer (some firewalls never send one) or after 10 min in total. */
async function fetchBytes(url) {
  const noAnswer = AbortSignal.timeout(5000);
  const response = await Promise.race([
    fetch(url, { signal: AbortSignal.timeout(600_000) }),
    new Promise((_, reject) => noAnswer.addEventListener('abort', () => reject(noAnswer.reason))),
  ]);
  if (!response.ok) throw new Error(`it answers ${response.status}`);
  return Buffer.from(await response.arrayBuffer());
}
