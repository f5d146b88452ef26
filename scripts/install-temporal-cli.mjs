import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { temporalCliVersion, versionOf } from './temporal-cli-version.mjs';

/**
 * Lets `make` put a `temporal` into a new folder, checks that it runs and has our version, and moves it to `target`.
 *
 * Two concurrent set-ups each make their own, and the later rename wins with the same content. To wait for each other they would
 * need a lock, which a killed set-up leaves behind; Go's build cache already saves the second one most of the work.
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
