import { lstat, readdir, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../../errors/code-of.ts';
import { inFolder } from './folder-below.ts';
import { notLocked, type AssertHeld } from '../lake.ts';
import { isLockNotHeld } from '../lock-not-held.ts';
import { mapConcurrently } from '../map-concurrently.ts';

/**
 * Removes a name from an open folder (`inFolderBelow`); if it is a folder, with everything below it. No link is followed, not even a link that
 * replaces a folder while it is emptied: Node's recursive `rm` goes by path, and would follow it. Entries that have become something else
 * meanwhile are left, and so are entries that others add, with the folder that holds them.
 */
export async function removeIn(
  folder: string,
  name: string,
  requireLock: AssertHeld = notLocked,
): Promise<void> {
  const found = await unlessExchanged(lstat(join(folder, name)));
  if (found?.isDirectory() === true) await removeFolderIn(folder, name, requireLock);
  else if (found !== undefined) {
    await requireLock();
    await unlessExchanged(unlink(join(folder, name)));
  }
}

/** Removes a file or a link, if it is there. */
export async function removeFileIn(folder: string, name: string): Promise<void> {
  try {
    await unlink(join(folder, name));
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}

/**
 * Removes a folder with everything below it, unless a link or a file has its name. An entry that cannot be removed does not stop the removal of
 * the rest: its error is thrown afterwards. `requireLock` is called once names are read, and throws LockNotHeld, which ends the removal at once.
 */
export async function removeFolderIn(
  folder: string,
  name: string,
  requireLock: AssertHeld = notLocked,
  levels = mostLevels,
): Promise<void> {
  if (levels === 0) return;
  const emptied = unlessExchanged(inFolder(folder, name, (inner) => empty(inner, requireLock, levels - 1)));
  const failure = await emptied.then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  if (isLockNotHeld(failure?.error)) throw failure.error;
  // A folder that may not be opened may be empty.
  const isGone = await unlessExchanged(rmdir(join(folder, name)).then(() => true));
  if (failure !== undefined && isGone !== true) throw failure.error;
}

/** Each level holds a descriptor and a stack frame. Daybook's folders have three levels; anything deeper is not ours, and stays. */
const mostLevels = 64;

/** Files removed by one question for the lock: files of the next writer may have the same names. */
const filesAsked = 64;

/** Files removed concurrently, for a remote disk. Folders are emptied one after the other, so that few descriptors are open. */
const filesAtOnce = 8;

async function empty(folder: string, requireLock: AssertHeld, levels: number): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true });
  const files = entries.filter((entry) => !entry.isDirectory());
  const folders = entries.filter((entry) => entry.isDirectory());
  const failures: unknown[] = [];
  const attempt = (removal: Promise<unknown>): Promise<unknown> =>
    removal.catch((error: unknown) => {
      if (isLockNotHeld(error)) throw error;
      failures.push(error);
    });
  for (let start = 0; start < files.length; start += filesAsked) {
    await requireLock();
    await mapConcurrently(filesAtOnce, files.slice(start, start + filesAsked), ({ name }) =>
      attempt(unlessExchanged(unlink(join(folder, name)))),
    );
  }
  for (const { name } of folders) await attempt(removeFolderIn(folder, name, requireLock, levels));
  if (failures.length > 0) throw failures[0];
}

/** Returns undefined if the name has become something else, or is gone. */
async function unlessExchanged<Result>(work: Promise<Result>): Promise<Result | undefined> {
  try {
    return await work;
  } catch (error) {
    if (exchanged.has(codeOf(error))) return undefined;
    throw error;
  }
}

const exchanged = new Set<unknown>(['ENOENT', 'ENOTDIR', 'EISDIR', 'ELOOP', 'ENOTEMPTY', 'EEXIST']);
