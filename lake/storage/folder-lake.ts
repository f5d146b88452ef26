import {
  link,
  lstat,
  mkdir,
  open,
  readdir,
  rename,
  stat,
  writeFile,
  type FileHandle,
} from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { constants, lstatSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import {
  manifestFile,
  maxBytesFor,
  namesOfMarts,
  successFile,
  notLocked,
  unreadable,
  type Found,
  type KeptFile,
  type Lake,
} from '../lake.ts';
import { codeOf } from '../../errors/code-of.ts';
import { inOrder } from '../../errors/in-order.ts';
import { DiskFull, LakeKeeps, LakeRefused } from '../errors.ts';
import { inFolder, inFolderBelow, NoFolder } from '../files/folder-below.ts';
import { asLockNotHeld, isLockNotHeld, withReason } from '../lock-not-held.ts';
import { filterConcurrently } from '../map-concurrently.ts';
import { sha256OfFile } from '../parquet/read-back.ts';
import { removeFileIn, removeFolderIn, removeIn } from '../files/remove-below.ts';
import { removeEach } from './remove-each.ts';
import { copyRegularFile, NoRegularFile, readPieces, withRegularFile } from '../files/regular-file.ts';
import { snapshotIdPattern } from '../manifest/snapshot-id.ts';
import { unobstructed } from '../files/unobstructed.ts';

/**
 * A lake in a folder. A snapshot is written beside the others under a name that readers ignore, synced to disk, and appears by one rename.
 * It belongs to one export host, where one export runs at a time.
 *
 * A draft has a name of its own: an attempt that stood still does not find the draft of its retry. It is created anew, so that a link planted
 * there, in a folder with other writers, leads to no file of ours. The lock is asked for once a draft is there, before it gets its final name:
 * whoever has the lock next removes drafts first, and then a draft of before has nothing left to rename. Entries are put there or removed through
 * a descriptor of the folder (`inFolderBelow`), so that a link that replaces the folder meanwhile leads nowhere.
 */
export function openFolderLake(location: string, assertHeld = notLocked): Lake {
  const requireLock = (): Promise<void> => asLockNotHeld(assertHeld);
  const own = randomBytes(6).toString('hex');
  const nameOfDraft = (name: string): string => `${draftPrefix}${name}-${own}`;
  const snapshots = join(location, 'snapshots');
  const draftFolder = (id: string): string => {
    if (lstatSync(snapshots, { throwIfNoEntry: false })?.isSymbolicLink() === true) throw isLink('snapshots');
    return join(snapshots, nameOfDraft(id));
  };
  /** The drafts being written, by their ID. */
  const openDrafts = new Map<string, string>();
  const atFile = <Result>(path: string, work: () => Promise<Result>): Promise<Result> =>
    unobstructed(location, { path, is: 'a file' }, work);
  const lake: Lake = {
    location,
    assertHeld,
    draftFolder,
    withDraft: (id, write) =>
      inMadeFolder('snapshots', async (folder) => {
        const name = nameOfDraft(id);
        await removeIn(folder, name);
        await mkdir(join(folder, name));
        try {
          return await inFolder(folder, name, async (draft) => {
            await requireOwn(draft, join('snapshots', name));
            openDrafts.set(id, draft);
            return write(draft);
          });
        } finally {
          openDrafts.delete(id);
          await removeIn(folder, name);
        }
      }),
    async snapshotIds() {
      const names = (await namesIn(snapshots)).filter((name) => snapshotIdPattern.test(name));
      return (await filterConcurrently(8, names, isComplete)).sort();
    },
    async read(path) {
      try {
        return await atFile(path, () => readFound(join(location, path)));
      } catch (error) {
        if (isForbidden(error)) return unreadable('', String(codeOf(error)));
        throw asRefusal(error, ['ENOTDIR']);
      }
    },
    replace: (path, text, found) =>
      withReason(() =>
        atFile(path, async () => {
          await mkdir(location, { recursive: true });
          const draft = join(location, `.${path}.${own}`);
          try {
            await removeFileIn(location, basename(draft));
            await writeFile(draft, text, { flag: 'wx' });
          } catch (error) {
            if (codeOf(error) !== 'ENOSPC') throw error;
            throw new DiskFull(location, { neededBytes: text.length, setting: 'DAYBOOK_LAKE' });
          }
          await bringToDisk(draft);
          await requireLock();
          const isAsFound = isStillAsFound(await lake.read(path), found);
          await (isAsFound ? giveName(draft, join(location, path)) : removeFileIn(location, basename(draft)));
          await bringToDisk(location);
          return isAsFound;
        }),
      ),
    async keep({ id, files }, to) {
      const draft = openDrafts.get(to.id) ?? draftFolder(to.id);
      const targets = to.paths.map((path) => join(draft, path));
      for (const [place, file] of files.entries()) {
        if (await keepFile(join(snapshots, id, file.path), { file, target: targets[place] ?? '' })) continue;
        for (const path of to.paths) await lake.removeFile(join('snapshots', nameOfDraft(to.id), path));
        return false;
      }
      return true;
    },
    async publish(id, { written, kept }) {
      const draft = openDrafts.get(id) ?? draftFolder(id);
      const folders = new Set([...written.keys(), ...kept].map((file) => dirname(join(draft, file))));
      await writeFile(join(draft, successFile), '', { flag: 'wx' });
      for (const file of [...written.keys(), manifestFile, successFile]) await bringToDisk(join(draft, file));
      for (const folder of [...folders, draft]) await bringToDisk(folder);
      await assertHeld();
      await unobstructed(location, { path: `snapshots/${id}`, is: 'free' }, () =>
        rename(draftFolder(id), join(snapshots, id)),
      );
      await bringToDisk(snapshots);
    },
    putFile: (path, localPath) =>
      putBeside(path, async (draft) => {
        await copyRegularFile(localPath, draft);
        await bringToDisk(draft);
        await requireLock();
        await giveName(draft, join(dirname(draft), basename(path)));
        await bringToDisk(dirname(draft));
      }),
    share: (file, path) =>
      putBeside(path, async (draft) => {
        const isShared = await keepFile(join(location, file.path), { file, target: draft });
        if (isShared) {
          await requireLock();
          await giveName(draft, join(dirname(draft), basename(path)));
        }
        // A rename over another name of the same file does nothing.
        await removeFileIn(dirname(draft), basename(draft));
        return isShared;
      }),
    removeFile: (path) =>
      inOwnFolder(dirname(path), (folder) =>
        atFile(path, async () => {
          await requireLock();
          await removeFileIn(folder, basename(path));
        }),
      ),
    removeFolder: (path) =>
      inOwnFolder(dirname(path), (folder) => removeFolderIn(folder, basename(path), requireLock)),
    async isThere(folder) {
      try {
        await lstat(join(location, folder));
        return true;
      } catch (error) {
        return codeOf(error) !== 'ENOENT';
      }
    },
    async filesIn(folder, isMeant = () => true) {
      if (!(await hasFolder(folder))) return [];
      const found = await unobstructed(location, { path: folder, is: 'a folder' }, () =>
        filesBelow(join(location, folder)),
      );
      return found.filter(isMeant);
    },
    hasFilesIn: async (folder) => (await lake.filesIn(folder)).length > 0,
    async foldersIn(folder) {
      if (!(await hasFolder(folder))) return [];
      const entries = await unobstructed(location, { path: folder, is: 'a folder' }, () =>
        readdir(join(location, folder), { withFileTypes: true }),
      );
      const ids = entries
        .filter((entry) => entry.isDirectory() && snapshotIdPattern.test(entry.name))
        .map(({ name }) => name);
      return filterConcurrently(8, ids, (id) => lake.hasFilesIn(join(folder, id)));
    },
    async withFile({ path, bytes }, use) {
      const file = join(location, path);
      try {
        const look = (): Promise<number> => withRegularFile(file, (_, found) => Promise.resolve(found));
        const size = await look().catch((error: unknown) => {
          if (isForbidden(error)) return undefined;
          throw error;
        });
        if (size === undefined) return { problem: 'may not be read' };
        return size === bytes ? { result: await use(file) } : { problem: 'has another size' };
      } catch (error) {
        // Also if somebody has replaced it after its size was read.
        if (error instanceof NoRegularFile) return { problem: 'is missing' };
        throw error;
      }
    },
    async removeSnapshot(id) {
      const removeFrom = async (path: string): Promise<void> => {
        const found = await lstat(join(location, path)).catch((error: unknown) => {
          if (codeOf(error) === 'ENOENT') return undefined;
          throw asRefusal(error);
        });
        // Anything else than a folder in place of the marts holds none, and keeps no snapshot.
        if (found?.isDirectory() !== true) return;
        await inOwnFolder(path, async (folder) => {
          if (!(await isFound(join(folder, id), lstat))) return;
          const gone = nameOfDraft(`gone-${id}`);
          await requireLock();
          await rename(join(folder, id), join(folder, gone));
          await removeIn(folder, gone);
        });
      };
      await removeEach(['snapshots', 'marts'].map((path) => () => removeFrom(path)));
    },
    async removeLeftovers(of) {
      if (of === 'marts') return removeLeftoversOfBuilds();
      const isPointer = (name: string): boolean => /^\.(latest|retention)\.json\.[0-9a-f]+$/.test(name);
      await removeEach([
        () => inOwnFolder('snapshots', (folder) => removeNamed(folder, isDraft)),
        () => inOwnFolder('.', (folder) => removeNamed(folder, isPointer)),
      ]);
    },
    close: () => Promise.resolve(),
  };
  return lake;

  /** Gives a draft its final name. If it is gone, it was probably removed by whoever has the lock next. */
  async function giveName(draft: string, path: string): Promise<void> {
    try {
      await rename(draft, path);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') await requireLock();
      throw error;
    }
  }

  function isLink(folder: string): LakeRefused {
    return new LakeRefused(location, `${folder} is a link, and nothing is written through one`);
  }

  async function hasFolder(folder: string): Promise<boolean> {
    try {
      return await isFound(join(location, folder));
    } catch (error) {
      throw asRefusal(error);
    }
  }

  /** False if the folder may not be opened: `foldersIn` lists it, so it is reported. */
  async function isComplete(id: string): Promise<boolean> {
    const path = join(snapshots, id, successFile);
    try {
      return await isFound(path);
    } catch (error) {
      // A link, which Daybook never puts there, can lead to a name that is too long.
      const isMisled = codeOf(error) === 'ENAMETOOLONG' && (await hasLink([dirname(path), path]));
      if (isForbidden(error) || isMisled) return false;
      throw error;
    }
  }

  async function removeLeftoversOfBuilds(): Promise<void> {
    let kept: ReadonlySet<string> = new Set();
    const isPointer = (name: string): boolean => /^\.latest-marts\.json\.[0-9a-f]+$/.test(name);
    const removeDrafts = async (folder: string): Promise<void> => {
      const marts = await foldersIn(folder);
      await inOrder(
        marts.map((mart) => () => inFolder(folder, mart, (inner) => removeNamed(inner, isDraft))),
        isLockNotHeld,
      );
    };
    await removeEach([
      () =>
        inOwnFolder('marts', async (folder) => {
          const names = await readdir(folder);
          // Read after them, so that marts that somebody else has put there meanwhile are either not listed or kept.
          kept = await namesOfMarts(lake);
          // Only such names: a writer of the lake can add folders of any name, and a link that wins the race leads to others of that name.
          const isGone = (name: string): boolean => snapshotIdPattern.test(name) && !kept.has(name);
          const isMeant = (name: string): boolean => isDraft(name) || isGone(name);
          await removeEachIn(folder, names.filter(isMeant));
        }),
      () => removeEach([...kept].map((id) => () => inOwnFolder(join('marts', id), removeDrafts))),
      () => inOwnFolder('.', (folder) => removeNamed(folder, isPointer)),
    ]);
  }

  async function removeNamed(folder: string, isMeant: (name: string) => boolean): Promise<void> {
    await removeEachIn(folder, (await readdir(folder)).filter(isMeant));
  }

  async function removeEachIn(folder: string, names: readonly string[]): Promise<void> {
    await inOrder(
      names.map((name) => () => removeIn(folder, name, requireLock)),
      isLockNotHeld,
    );
  }

  /** Works in a folder of the lake to remove entries from it. If it is missing, or a link, or below a link, nothing there is ours. */
  async function inOwnFolder(path: string, work: (folder: string) => Promise<void>): Promise<void> {
    try {
      await unobstructed(location, { path, is: 'a folder' }, () => inFolderBelow(location, { path }, work));
    } catch (error) {
      if (isLockNotHeld(error)) throw error.why;
      if (error instanceof NoFolder) return;
      // As with an object that a bucket does not delete: the rest goes on.
      if (isForbidden(error)) throw new LakeKeeps(location, { files: 1, code: String(codeOf(error)) });
      throw asRefusal(error);
    }
  }

  /** Converts refusals of the system: its own message may name a descriptor instead of the folder. */
  function asRefusal(error: unknown, refusals = ['EACCES', 'EPERM', 'EROFS']): unknown {
    const code = String(codeOf(error));
    return refusals.includes(code) ? new LakeRefused(location, code, error) : error;
  }

  /** Works in a folder of the lake to put entries there, and creates it if it is missing. Nothing is created behind a link. */
  async function inMadeFolder<Result>(
    path: string,
    work: (folder: string) => Promise<Result>,
  ): Promise<Result> {
    try {
      return await inFolderBelow(location, { path, make: true }, work);
    } catch (error) {
      const behind = error instanceof NoFolder ? await linkAbove(join(path, 'any')) : undefined;
      throw behind === undefined ? asRefusal(error) : isLink(behind);
    }
  }

  /** Passes on a draft path beside a file's final name, and removes the draft if that fails. */
  function putBeside<Result>(path: string, put: (draft: string) => Promise<Result>): Promise<Result> {
    const name = nameOfDraft(basename(path));
    return withReason(() =>
      atFile(path, () =>
        inMadeFolder(dirname(path), async (folder) => {
          await removeFileIn(folder, name);
          try {
            return await put(join(folder, name));
          } catch (error) {
            await removeFileIn(folder, name).catch(() => undefined);
            throw error;
          }
        }),
      ),
    );
  }

  /**
   * DuckDB writes by path and follows links, but nobody else can put a link into a folder that was just created. Somebody with write access beside
   * it may have replaced the folder at once: the other one has another owner, or is writable by others, unlike files that are created in it now.
   * (On some mounts everything belongs to another user and is writable by everybody.)
   */
  async function requireOwn(folder: string, path: string): Promise<void> {
    const name = '.probe';
    const file = await open(join(folder, name), 'wx');
    try {
      const [made, found] = [await file.stat(), await stat(folder)];
      if (found.uid === made.uid && (found.mode & ~made.mode & 0o022) === 0) return;
    } finally {
      await file.close();
      await removeFileIn(folder, name);
    }
    throw new LakeRefused(location, `somebody else has put a folder in the place of ${path}`);
  }

  /**
   * Returns the first link in place of a folder on the path to a file of the lake; undefined if there is none. It leads out of the lake, and
   * nothing behind it is ours. The lake itself may be a link, because its operator chose it.
   */
  async function linkAbove(path: string): Promise<string | undefined> {
    const names = dirname(path)
      .split(sep)
      .filter((name) => name !== '.');
    for (const [index] of names.entries()) {
      const folder = join(...names.slice(0, index + 1));
      const found = await lstat(join(location, folder)).catch(() => undefined);
      if (found?.isSymbolicLink() === true) return folder;
    }
    return undefined;
  }

  async function namesIn(folder: string): Promise<string[]> {
    try {
      const place = { path: relative(location, folder), is: 'a folder' } as const;
      return await unobstructed(location, place, () => readdir(folder));
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return [];
      if (error instanceof LakeRefused) throw error;
      throw new LakeRefused(location, String(codeOf(error) ?? error), error);
    }
  }
}

/** Whether a small file is still as it was found. What cannot be read is reported by who tries to replace it. */
function isStillAsFound(now: Found | undefined, found: Found | undefined): boolean {
  return now?.version === '' || now?.version === found?.version;
}

const draftPrefix = '.tmp-';

function isDraft(name: string): boolean {
  return name.startsWith(draftPrefix);
}

/** One file or folder may not be used; others may be. */
function isForbidden(error: unknown): boolean {
  return ['EACCES', 'EPERM'].includes(String(codeOf(error)));
}

/** Whether a file or folder exists; with `lstat`, also a link that leads nowhere. Throws if the disk does not answer. */
async function isFound(path: string, look: typeof stat | typeof lstat = stat): Promise<boolean> {
  try {
    await look(path);
    return true;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(String(codeOf(error)))) return false;
    throw error;
  }
}

async function hasLink(paths: readonly string[]): Promise<boolean> {
  const found = await Promise.all(paths.map((path) => lstat(path).catch(() => undefined)));
  return found.some((entry) => entry?.isSymbolicLink() === true);
}

/** Lists every file below a folder, by its path. A folder below that may not be opened is listed as one name, with a slash at its end. */
async function filesBelow(folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const waiting = ['']; waiting.length > 0;) {
    const path = waiting.shift() ?? '';
    try {
      for (const entry of await readdir(join(folder, path), { withFileTypes: true }))
        (entry.isDirectory() ? waiting : found).push(join(path, entry.name));
    } catch (error) {
      // Removed meanwhile, or too deep for a path.
      if (path !== '' && codeOf(error) === 'ENOENT') continue;
      if (!isForbidden(error) && codeOf(error) !== 'ENAMETOOLONG') throw error;
      found.push(`${path}/`);
    }
  }
  return found;
}

async function foldersIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .map(({ name }) => name);
}

/** Returns whether the target is the file now. */
async function keepFile(
  source: string,
  { file, target }: { file: KeptFile; target: string },
): Promise<boolean> {
  const found = await lstat(source).catch(() => undefined);
  if (found?.isFile() !== true || found.size !== file.bytes) return false;
  await mkdir(dirname(target), { recursive: true });
  try {
    await linkOrCopy(source, target, file.bytes);
    // The target, not the source, which may be another file by now.
    return (await sha256OfFile(target, file.bytes)) === file.sha256;
  } catch (error) {
    // A file that may not be read cannot be proved to be as published.
    if (error instanceof NoRegularFile || isForbidden(error)) return false;
    throw error;
  }
}

async function readFound(path: string): Promise<Found | undefined> {
  const most = maxBytesFor(path);
  try {
    return await withRegularFile(path, async (file, bytes) => {
      const text = bytes > most ? undefined : await readAtMost(file, bytes);
      return text === undefined ? unreadable('') : { text, version: text };
    });
  } catch (error) {
    if (!(error instanceof NoRegularFile)) throw error;
    return error.isMissing ? undefined : unreadable('');
  }
}

/** Undefined if it has grown meanwhile. */
async function readAtMost(file: FileHandle, bytes: number): Promise<string | undefined> {
  const pieces: Buffer[] = [];
  for await (const piece of readPieces(file, bytes)) pieces.push(Buffer.from(piece));
  const read = Buffer.concat(pieces);
  return read.length > bytes ? undefined : read.toString('utf8');
}

/** Makes the write survive a power failure. Folders are synced too: they hold the names. */
async function bringToDisk(path: string): Promise<void> {
  // Does not wait for a pipe in its place.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Not every file system has links, and their number is limited. If the disk is full, it is full for a copy too. */
async function linkOrCopy(source: string, target: string, bytes: number): Promise<void> {
  try {
    await link(source, target);
  } catch (error) {
    if (codeOf(error) === 'ENOSPC') throw error;
    await copyRegularFile(source, target, bytes);
    await bringToDisk(target);
  }
}
