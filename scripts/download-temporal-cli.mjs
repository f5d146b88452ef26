import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { installTemporalCli } from './install-temporal-cli.mjs';
import { temporalCliVersion } from './temporal-cli-version.mjs';

/**
 * Downloads the release from Temporal's GitHub page. The archive is compared with the checksums that stand beside it, which
 * finds a broken download; that the page itself is Temporal's rests on TLS.
 *
 * @param {string} target
 * @param {(progress: string) => void} report
 */
export async function downloadTemporalCli(target, report) {
  const archive = archiveName();
  const release = `https://github.com/temporalio/cli/releases/download/v${temporalCliVersion}`;
  report('downloading');
  try {
    return await installTemporalCli(target, async (folder) => {
      const [content, checksums] = await Promise.all([
        fetchBytes(`${release}/${archive}`),
        fetchBytes(`${release}/checksums.txt`),
      ]);
      const sha256 = createHash('sha256').update(content).digest('hex');
      if (!checksums.toString().includes(`${sha256}  ${archive}`))
        throw new Error('its checksum is not the published one');
      await writeFile(join(folder, archive), content);
      await promisify(execFile)('tar', ['-xzf', join(folder, archive), '-C', folder, 'temporal']);
    });
  } catch (error) {
    throw new Error(`Downloading ${release}/${archive} failed (${error.cause?.message ?? error.message}).`, {
      cause: error,
    });
  }
}

function archiveName() {
  const arch = { x64: 'amd64', arm64: 'arm64' }[process.arch];
  return `temporal_cli_${temporalCliVersion}_${process.platform}_${arch ?? process.arch}.tar.gz`;
}

/** Gives up when 5 s pass without an answer (behind some firewalls none ever comes) or 10 min without the end. */
async function fetchBytes(url) {
  const noAnswer = AbortSignal.timeout(5000);
  const response = await Promise.race([
    fetch(url, { signal: AbortSignal.timeout(600_000) }),
    new Promise((_, reject) => noAnswer.addEventListener('abort', () => reject(noAnswer.reason))),
  ]);
  if (!response.ok) throw new Error(`it answers ${response.status}`);
  return Buffer.from(await response.arrayBuffer());
}
