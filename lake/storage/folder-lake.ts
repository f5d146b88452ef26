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
import { constants, existsSync, lstatSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import {
  manifestFile,
  mostBytesOf,
  namesOfMarts,
  successFile,
  unreadable,
  type Found,
  type KeptFile,
  type Lake,
} from '../lake.ts';
import { codeOf } from '../../errors/code-of.ts';
import { inOrder } from '../../errors/in-order.ts';
import { DiskFull, LakeKeeps, LakeRefused } from '../errors.ts';
import { inFolder, inFolderBelow, NoFolder } from '../files/folder-below.ts';
import { filterConcurrently } from '../map-concurrently.ts';
import { sha256OfFile } from '../parquet/read-back.ts';
import { removeFileIn, removeFolderIn, removeIn } from '../files/remove-below.ts';
import { removeEach } from './remove-each.ts';
import { copyRegularFile, NoRegularFile, piecesOf, withRegularFile } from '../files/regular-file.ts';
import { snapshotIdPattern } from '../manifest/snapshot-id.ts';
import { unobstructed } from '../files/unobstructed.ts';

/**
 * A lake in a folder. A snapshot is written beside the others under a name that readers do not look at, brought to the disk,
 * and appears by one rename. It belongs to one export host, where one export runs at a time.
 *
 * A file beside the others has a name that can be guessed. It is made anew, so that a link that waits there, in a folder that others may
 * write to as well, leads to no file of ours. What is put there or removed goes through a descriptor of the folder (`inFolderBelow`), so that a
 * link that takes its place meanwhile leads nowhere.
 */
export function openFolderLake(location: string): Lake {
  const snapshots = join(location, 'snapshots');
  const draftFolder = (id: string): string => {
    if (lstatSync(snapshots, { throwIfNoEntry: false })?.isSymbolicLink() === true) throw isLink('snapshots');
    return join(snapshots, nameOfDraft(id));
  };
  /** Those that are being written, by their ID. */
  const openDrafts = new Map<string, string>();
  const atFile = <Result>(path: string, work: () => Promise<Result>): Promise<Result> =>
    unobstructed(location, { path, is: 'a file' }, work);
  const lake: Lake = {
    location,
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
      return names.filter((id) => existsSync(join(snapshots, id, successFile))).sort();
    },
    async read(path) {
      try {
        return await atFile(path, () => readFound(join(location, path)));
      } catch (error) {
        if (isForbidden(error)) return unreadable('', String(codeOf(error)));
        throw asRefusal(error, ['ENOTDIR']);
      }
    },
    replace: (path, text) =>
      atFile(path, async () => {
        await mkdir(location, { recursive: true });
        const draft = join(location, `.${path}.${process.pid}`);
        try {
          await removeFileIn(location, basename(draft));
          await writeFile(draft, text, { flag: 'wx' });
        } catch (error) {
          if (codeOf(error) !== 'ENOSPC') throw error;
          throw new DiskFull(location, { neededBytes: text.length, setting: 'DAYBOOK_LAKE' });
        }
        await bringToDisk(draft);
        await rename(draft, join(location, path));
        await bringToDisk(location);
        return true;
      }),
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
    async publish(id, { written, kept, assertHeld }) {
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
        await rename(draft, join(dirname(draft), basename(path)));
        await bringToDisk(dirname(draft));
      }),
    share: (file, path) =>
      putBeside(path, async (draft) => {
        const isShared = await keepFile(join(location, file.path), { file, target: draft });
        if (isShared) await rename(draft, join(dirname(draft), basename(path)));
        // A rename over another name of the same file does nothing.
        await removeFileIn(dirname(draft), basename(draft));
        return isShared;
      }),
    removeFile: (path) =>
      inOwnFolder(dirname(path), (folder) => atFile(path, () => removeFileIn(folder, basename(path)))),
    removeFolder: (path) => inOwnFolder(dirname(path), (folder) => removeFolderIn(folder, basename(path))),
    async isThere(folder) {
      try {
        await lstat(join(location, folder));
        return true;
      } catch (error) {
        return codeOf(error) !== 'ENOENT';
      }
    },
    async filesIn(folder, isMeant = () => true) {
      if (!existsSync(join(location, folder))) return [];
      const found = await unobstructed(location, { path: folder, is: 'a folder' }, () =>
        filesBelow(join(location, folder)),
      );
      return found.filter(isMeant);
    },
    hasFilesIn: async (folder) => (await lake.filesIn(folder)).length > 0,
    async foldersIn(folder) {
      if (!existsSync(join(location, folder))) return [];
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
        // Also what somebody put in its place after its size was looked at.
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
        // What is in the place of the marts has none, and keeps no snapshot.
        if (found?.isDirectory() !== true) return;
        await inOwnFolder(path, async (folder) => {
          if (!existsSync(join(folder, id))) return;
          const gone = nameOfDraft(`gone-${id}`);
          await rename(join(folder, id), join(folder, gone));
          await removeIn(folder, gone);
        });
      };
      await removeEach(['snapshots', 'marts'].map((path) => () => removeFrom(path)));
    },
    async removeLeftovers(of) {
      if (of === 'marts') return removeLeftoversOfBuilds();
      const isPointer = (name: string): boolean => /^\.(latest|retention)\.json\.\d+$/.test(name);
      await removeEach([
        () => inOwnFolder('snapshots', (folder) => removeNamed(folder, isDraft)),
        () => inOwnFolder('.', (folder) => removeNamed(folder, isPointer)),
      ]);
    },
    close: () => Promise.resolve(),
  };
  return lake;

  function isLink(folder: string): LakeRefused {
    return new LakeRefused(location, `${folder} is a link, and nothing is written through one`);
  }

  async function removeLeftoversOfBuilds(): Promise<void> {
    const kept = await namesOfMarts(lake);
    // Only such names: who may write to the lake puts folders of any name there, and where links can be outrun leads to others of that name.
    const isGone = (name: string): boolean => snapshotIdPattern.test(name) && !kept.has(name);
    const isPointer = (name: string): boolean => /^\.latest-marts\.json\.\d+$/.test(name);
    const removeDrafts = async (folder: string): Promise<void> => {
      const marts = await foldersIn(folder);
      await inOrder(
        marts.map((mart) => () => inFolder(folder, mart, (inner) => removeNamed(inner, isDraft))),
      );
    };
    await removeEach([
      () => inOwnFolder('marts', (folder) => removeNamed(folder, (name) => isDraft(name) || isGone(name))),
      ...[...kept].map((id) => () => inOwnFolder(join('marts', id), removeDrafts)),
      () => inOwnFolder('.', (folder) => removeNamed(folder, isPointer)),
    ]);
  }

  /** Works in a folder of the lake to remove what is in it. Where there is none, or a link in its place or above, nothing is ours. */
  async function inOwnFolder(path: string, work: (folder: string) => Promise<void>): Promise<void> {
    try {
      await unobstructed(location, { path, is: 'a folder' }, () => inFolderBelow(location, { path }, work));
    } catch (error) {
      if (error instanceof NoFolder) return;
      // As of an object that a bucket keeps: it holds up nothing else.
      if (isForbidden(error)) throw new LakeKeeps(location, { files: 1, code: String(codeOf(error)) });
      throw asRefusal(error);
    }
  }

  /** What the system refuses: its own words may name a descriptor, and not the folder. */
  function asRefusal(error: unknown, refusals = ['EACCES', 'EPERM', 'EROFS']): unknown {
    const code = String(codeOf(error));
    return refusals.includes(code) ? new LakeRefused(location, code, error) : error;
  }

  /** Works in a folder of the lake to put something there, and makes it if it is not there. Nothing is made behind a link. */
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

  /** Hands over where a file is made before it gets its name, beside it; what a killed process left there is removed. */
  function putBeside<Result>(path: string, put: (draft: string) => Promise<Result>): Promise<Result> {
    const name = nameOfDraft(`${basename(path)}.${process.pid}`);
    return atFile(path, () =>
      inMadeFolder(dirname(path), async (folder) => {
        await removeFileIn(folder, name);
        return put(join(folder, name));
      }),
    );
  }

  /**
   * DuckDB writes by path, and follows links; in a folder that was just made nobody else can put one. Who may write beside it may have put another
   * folder in its place at once: one of another owner, or in which others may write, other than in what is made there now. (On some
   * mounts all is another user's, and open to everybody.)
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
   * The first link in the place of a folder on the way to a file of the lake; undefined when there is none. It leads out of the lake, and
   * nothing behind it is ours. The lake itself may be one: whoever set it up said so.
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

const draftPrefix = '.tmp-';

function nameOfDraft(name: string): string {
  return `${draftPrefix}${name}`;
}

function isDraft(name: string): boolean {
  return name.startsWith(draftPrefix);
}

/** One file or folder may not be used, which says nothing of others. */
function isForbidden(error: unknown): boolean {
  return ['EACCES', 'EPERM'].includes(String(codeOf(error)));
}

async function removeNamed(folder: string, isMeant: (name: string) => boolean): Promise<void> {
  const names = (await readdir(folder)).filter(isMeant);
  await inOrder(names.map((name) => () => removeIn(folder, name)));
}

/** Of every file below a folder that is worked with by its path. A folder below that may not be opened is one name, with a slash at its end. */
async function filesBelow(folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const waiting = ['']; waiting.length > 0;) {
    const path = waiting.shift() ?? '';
    try {
      for (const entry of await readdir(join(folder, path), { withFileTypes: true }))
        (entry.isDirectory() ? waiting : found).push(join(path, entry.name));
    } catch (error) {
      // Removed meanwhile, or so deep that no path leads there.
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

/** Says whether the target is the file now. */
async function keepFile(
  source: string,
  { file, target }: { file: KeptFile; target: string },
): Promise<boolean> {
  const found = await lstat(source).catch(() => undefined);
  if (found?.isFile() !== true || found.size !== file.bytes) return false;
  await mkdir(dirname(target), { recursive: true });
  try {
    await linkOrCopy(source, target, file.bytes);
    // The target, not the source: that may be another file by now.
    return (await sha256OfFile(target, file.bytes)) === file.sha256;
  } catch (error) {
    // What may not be read is not as it was published, as far as anybody can tell.
    if (error instanceof NoRegularFile || isForbidden(error)) return false;
    throw error;
  }
}

async function readFound(path: string): Promise<Found | undefined> {
  const most = mostBytesOf(path);
  try {
    return await withRegularFile(path, async (file, bytes) => {
      const text = bytes > most ? undefined : await textOf(file, bytes);
      return text === undefined ? unreadable('') : { text, version: text };
    });
  } catch (error) {
    if (!(error instanceof NoRegularFile)) throw error;
    return error.isMissing ? undefined : unreadable('');
  }
}

/** Undefined when it has grown meanwhile. */
async function textOf(file: FileHandle, bytes: number): Promise<string | undefined> {
  const pieces: Buffer[] = [];
  for await (const piece of piecesOf(file, bytes)) pieces.push(Buffer.from(piece));
  const read = Buffer.concat(pieces);
  return read.length > bytes ? undefined : read.toString('utf8');
}

/** What was written is still there after the power went. Folders too: they hold the names. */
async function bringToDisk(path: string): Promise<void> {
  // A pipe in its place is not waited for.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Not every file system has links, and none has them without end. A disk that is full is full for a copy too. */
async function linkOrCopy(source: string, target: string, bytes: number): Promise<void> {
  try {
    await link(source, target);
  } catch (error) {
    if (codeOf(error) === 'ENOSPC') throw error;
    await copyRegularFile(source, target, bytes);
    await bringToDisk(target);
  }
}
