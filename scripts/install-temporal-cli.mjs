import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { temporalCliVersion, versionOf } from './temporal-cli-version.mjs';

/**
 * Lets `make` put a `temporal` into a new folder, checks that it runs and has our version, and moves it to `target`.
 *
 * Two set-ups at once each make their own and the later rename wins, with the same content. Waiting for each other would
 * need a lock that a killed set-up leaves behind; Go's build cache already spares the second most of the work.
 *
 * @param {string} target
 * @param {(folder: string) => Promise<void>} make
 * @returns {Promise<string>} target
 */
export async function installTemporalCli(target, make) {
  await mkdir(dirname(target), { recursive: true });
  const folder = await mkdtemp(join(dirname(target), 'unfinished-'));
  try {
    await make(folder);
    const version = await versionOf(join(folder, 'temporal'));
    if (version !== temporalCliVersion) {
      throw new Error(
        `what came out is ${version ?? 'nothing that runs'} instead of version ${temporalCliVersion}`,
      );
    }
    await rename(join(folder, 'temporal'), target);
    return target;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
