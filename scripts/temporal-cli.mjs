import { constants } from 'node:fs';
import { access, lstat, mkdir } from 'node:fs/promises';
import { basename, delimiter, dirname, join } from 'node:path';
import { buildTemporalCli } from './build-temporal-cli.mjs';
import { downloadTemporalCli } from './download-temporal-cli.mjs';
import { readEnvFile } from './env-file.mjs';
import { isTrusted, requireOwnCache } from './own-cache.mjs';
import {
  cachedTemporalCli,
  oldestTemporalCli,
  temporalCliVersion,
  versionOf,
} from './temporal-cli-version.mjs';

/**
 * Returns the path of a Temporal CLI that runs. Gets one if there is none: downloads it, or builds it from Go modules
 * (about four minutes, once). Plain JavaScript, because it also works before the npm packages are installed.
 *
 * @param {{ report: (progress: string) => void }} input `report` is called every few seconds with the progress.
 * @returns {Promise<string>}
 */
export async function ensureTemporalCli({ report }) {
  return (await findTemporalCli()) ?? (await obtain(report));
}

/**
 * Returns the available Temporal CLI: DAYBOOK_TEMPORAL_CLI from the environment or `.env`, a recent enough one on PATH, or our own copy, in
 * this order. Throws ForeignFolder if another user may have put that copy there.
 *
 * @returns {Promise<string | undefined>}
 */
export async function findTemporalCli() {
  const { DAYBOOK_TEMPORAL_CLI: chosen } = { ...readEnvFile(), ...process.env };
  if (chosen) {
    if ((await versionOf(chosen)) !== undefined) return chosen;
    throw new Error(
      `DAYBOOK_TEMPORAL_CLI is ${chosen}, which is not a Temporal CLI that runs; correct it or unset it.`,
    );
  }
  const onPath = await findOnPath('temporal');
  if (onPath !== undefined && isRecent(await versionOf(onPath))) return onPath;
  if (!(await isExecutable(cachedTemporalCli))) return undefined;
  await requireOwnFolderOfCopy();
  return (await isOwnFile(cachedTemporalCli)) ? cachedTemporalCli : undefined;
}

function requireOwnFolderOfCopy() {
  const folder = dirname(cachedTemporalCli);
  return requireOwnCache(dirname(folder), [basename(folder)]);
}

/** False for a copy made up to 0.5, when root's tar kept the owner named in the archive: it is fetched again. */
async function isOwnFile(file) {
  const { uid, mode } = await lstat(file);
  return isTrusted(uid) && (mode & 0o022) === 0;
}

async function obtain(report) {
  await mkdir(dirname(cachedTemporalCli), { recursive: true, mode: 0o700 });
  await requireOwnFolderOfCopy();
  const failures = [];
  for (const get of [downloadTemporalCli, buildTemporalCli]) {
    try {
      return await get(cachedTemporalCli, report);
    } catch (error) {
      failures.push(error.message);
    }
  }
  throw new Error(
    `There is no Temporal CLI ${oldestTemporalCli.join('.')} or newer on PATH, and getting ${temporalCliVersion} failed. ` +
      `${failures.join(' ')} Install it by hand (https://docs.temporal.io/cli) and start again, or set DAYBOOK_TEMPORAL_CLI.`,
  );
}

async function findOnPath(program) {
  for (const folder of (process.env.PATH ?? '').split(delimiter).filter(Boolean)) {
    if (await isExecutable(join(folder, program))) return join(folder, program);
  }
  return undefined;
}

async function isExecutable(file) {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** A CLI built from source without a version reports 0.0.0-DEV, and is taken as recent: whoever built it knows what it is. */
function isRecent(version) {
  if (version === undefined) return false;
  const [major, minor] = version.split('.').map(Number);
  const [oldestMajor, oldestMinor] = oldestTemporalCli;
  return version === '0.0.0-DEV' || major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
}
