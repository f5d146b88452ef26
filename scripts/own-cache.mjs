import { chmod, lstat, realpath, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

/** A folder of programs in which another user of the machine may have put them. Exit code 2. */
export class ForeignFolder extends Error {
  name = 'ForeignFolder';
  handling = 'stop';
}

/**
 * What is kept in a cache is run: throws ForeignFolder unless the cache and what is named in it belong to the user that runs this, or
 * to root, and nobody else may write in them. Takes that right away from others where it is ours.
 *
 * @param {string} cache
 * @param {readonly string[]} names of what is run; it need not be there
 */
export async function requireOwnCache(cache, names) {
  if (process.geteuid === undefined) return;
  const folder = await realpath(cache);
  // Whoever owns a folder above can put another in the place of the one that was looked at.
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

/** Follows a link, whose own mode says nothing; one to what is gone is nothing that could be run. */
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
 * Whether files of this user of the machine say what we or root have written.
 *
 * @param {number} uid
 */
export function isTrusted(uid) {
  return uid === 0 || uid === process.geteuid?.();
}

function unsafe(cache) {
  return `programs in ${cache} are not run: set XDG_CACHE_HOME to a folder of your own (after sudo, HOME may be another's).`;
}
