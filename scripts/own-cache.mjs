import { chmod, lstat, realpath, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

/** Another user of the machine may have put programs into the folder. */
export class ForeignFolder extends Error {
  name = 'ForeignFolder';
  handling = 'stop';
  isUsage = true;
}

/**
 * Throws ForeignFolder unless the cache and the named files in it belong to the user that runs this, or to root, and nobody else can
 * write to them, because files in the cache are executed. Removes write access of others from files of our own.
 *
 * @param {string} cache
 * @param {readonly string[]} names of the files that are executed; they need not exist
 */
export async function requireOwnCache(cache, names) {
  if (process.geteuid === undefined) return;
  const folder = await realpath(cache);
  // The owner of a parent folder can replace the folder that was checked.
  const above = new Set([...foldersAbove(resolve(cache)), ...foldersAbove(folder)]);
  for (const path of above) requireOwner(cache, path, await stat(path));
  await close(cache, folder);
  for (const path of names.map((name) => join(folder, name))) {
    const found = await lstat(path).catch(() => undefined);
    if (found === undefined) continue;
    requireOwner(cache, path, found);
    await close(cache, path);
  }
}

function foldersAbove(path) {
  const above = dirname(path);
  return above === path ? [] : [...foldersAbove(above), above];
}

/** Follows a link, since its own mode says nothing; a dangling link cannot be executed. */
async function close(cache, path) {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return;
  requireOwner(cache, path, found);
  if ((found.mode & 0o022) === 0) return;
  if (found.uid !== process.geteuid())
    throw new ForeignFolder(`Others may write in ${path}, so ${unsafe(cache)}`);
  await chmod(path, found.mode & 0o7777 & ~0o022);
}

function requireOwner(cache, path, { uid }) {
  if (!isTrusted(uid))
    throw new ForeignFolder(`${path} belongs to another user (${uid}), so ${unsafe(cache)}`);
}

/**
 * Whether files of this user of the machine can be trusted: those of ourselves and root.
 *
 * @param {number} uid
 */
export function isTrusted(uid) {
  return uid === 0 || uid === process.geteuid?.();
}

function unsafe(cache) {
  return `programs in ${cache} are not run: set XDG_CACHE_HOME to a folder of your own (after sudo, HOME may be another's).`;
}
