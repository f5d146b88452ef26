import { statfs } from 'node:fs/promises';
import type { Config } from '../../config/parse-config.ts';
import type { Settings } from '../../config/settings.ts';
import { openHome } from '../../embedded/home.ts';
import { isNothingToBuild } from '../../marts/errors.ts';
import { martsNeedPython } from '../../marts/python-with-dbt.ts';
import type { CheckResult } from './finding.ts';
import { openToEverybody } from './open-to-everybody.ts';
import { sentInClear } from './sent-in-clear.ts';

/** Checks `engines` of package.json, and explains it in words. */
export function checkNode(version: string = process.versions.node): string {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19))
    throw new Error(
      `${version} is too old: Daybook needs Node 20.19 or newer. Get one at https://nodejs.org`,
    );
  return version;
}

export async function checkDisk(folder: string): Promise<string> {
  const home = await openHome(folder);
  const { bavail, bsize } = await statfs(home.root);
  const gigabytes = (bavail * bsize) / 1e9;
  if (gigabytes < 1) throw new Error(`only ${gigabytes.toFixed(1)} GB free at ${home.root}: free some space`);
  return `${gigabytes.toFixed(0)} GB free at ${home.root}`;
}

/** New files are private to their owner since 0.6; older ones may not be. */
export async function checkFiles({ home, lake }: Config): Promise<CheckResult> {
  const { root } = await openHome(home);
  const open = await openToEverybody([root, lake.location]);
  return {
    problems: open.map((path) => `every user of this machine can read ${path}: chmod -R o= '${path}'`),
    allWell: 'closed to other users',
  };
}

export function checkEncryption(settings: Settings): CheckResult {
  return { problems: sentInClear(settings), allWell: 'nothing leaves this machine in clear text' };
}

/** Syncs and snapshots work without Python. */
export async function checkPython(): Promise<string> {
  const { pythonVersion } = await import('../../python/python-environment.ts');
  try {
    return `${await pythonVersion(martsNeedPython)}, for the marts`;
  } catch (error) {
    if (!isNothingToBuild(error)) throw error;
    throw new Error(`the marts are skipped. ${error.message}`, { cause: error });
  }
}
