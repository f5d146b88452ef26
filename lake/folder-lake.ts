import { link, lstat, mkdir, open, readdir, rename, rm, writeFile, type FileHandle } from 'node:fs/promises';
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
} from './lake.ts';
import { DiskFull, LakeRefused } from './errors.ts';
import { sha256OfFile } from './read-back.ts';
import { copyRegularFile, NoRegularFile, piecesOf, withRegularFile } from './regular-file.ts';
import { snapshotIdPattern } from './snapshot-id.ts';
import { unobstructed } from './unobstructed.ts';

/**
 * A lake in a folder. A snapshot is written beside the others under a name that readers do not look at, brought to the disk,
 * and appears by one rename. It belongs to one export host, where one export runs at a time.
 *
 * A file beside the others has a name that can be guessed. It is made anew, so that a link that waits there, in a folder that others may
 * write to as well, leads to no file of ours.
 */
export function openFolderLake(location: string): Lake {
  const snapshots = join(location, 'snapshots');
  const draftFolder = (id: string): string => {
    if (lstatSync(snapshots, { throwIfNoEntry: false })?.isSymbolicLink() === true) throw isLink('snapshots');
    return join(snapshots, `${draftPrefix}${id}`);
  };
  const atFile = <Result>(path: string, work: () => Promise<Result>): Promise<Result> =>
    unobstructed(location, { path, is: 'a file' }, work);
  const lake: Lake = {
    location,
    draftFolder,
    async snapshotIds() {
      const names = (await namesIn(snapshots)).filter((name) => snapshotIdPattern.test(name));
      return names.filter((id) => existsSync(join(snapshots, id, successFile))).sort();
    },
    async read(path) {
      try {
        return await atFile(path, () => readFound(join(location, path)));
      } catch (error) {
        if (['ENOTDIR', 'EACCES', 'EPERM'].includes(codeOf(error)))
          throw new LakeRefused(location, codeOf(error), error);
        throw error;
      }
    },
    replace: (path, text) =>
      atFile(path, async () => {
        await mkdir(location, { recursive: true });
        const draft = join(location, `.${path}.${process.pid}`);
        try {
          await rm(draft, { force: true });
          await writeFile(draft, text, { flag: 'wx' });
        } catch (error) {
          if (!isCode(error, 'ENOSPC')) throw error;
          throw new DiskFull(location, { neededBytes: text.length, setting: 'DAYBOOK_LAKE' });
        }
        await bringToDisk(draft);
        await rename(draft, join(location, path));
        await bringToDisk(location);
        return true;
      }),
    async keep({ id, files }, to) {
      const targets = to.paths.map((path) => join(draftFolder(to.id), path));
      for (const [place, file] of files.entries()) {
        if (await keepFile(join(snapshots, id, file.path), { file, target: targets[place] ?? '' })) continue;
        await Promise.all(targets.map((target) => rm(target, { force: true })));
        return false;
      }
      return true;
    },
    async publish(id, { written, kept }) {
      const draft = draftFolder(id);
      const folders = new Set([...written.keys(), ...kept].map((file) => dirname(join(draft, file))));
      await writeFile(join(draft, successFile), '', { flag: 'wx' });
      for (const file of [...written.keys(), manifestFile, successFile]) await bringToDisk(join(draft, file));
      for (const folder of [...folders, draft]) await bringToDisk(folder);
      await unobstructed(location, { path: `snapshots/${id}`, is: 'free' }, () =>
        rename(draft, join(snapshots, id)),
      );
      await bringToDisk(snapshots);
    },
    putFile: (path, localPath) =>
      atFile(path, async () => {
        const { target, draft } = await draftBeside(path);
        await mkdir(dirname(target), { recursive: true });
        await copyRegularFile(localPath, draft);
        await bringToDisk(draft);
        await rename(draft, target);
        await bringToDisk(dirname(target));
      }),
    share: (file, path) =>
      atFile(path, async () => {
        const { target, draft } = await draftBeside(path);
        const isShared = await keepFile(join(location, file.path), { file, target: draft });
        if (isShared) await rename(draft, target);
        // A rename over another name of the same file does nothing.
        await rm(draft, { force: true });
        return isShared;
      }),
    removeFile: (path) =>
      atFile(path, async () => {
        if ((await linkAbove(path)) === undefined) await rm(join(location, path), { force: true });
      }),
    async removeFolder(path) {
      if ((await linkAbove(join(path, 'any'))) !== undefined) return;
      await rm(join(location, path), { recursive: true, force: true });
    },
    async filesIn(folder) {
      if (!existsSync(join(location, folder))) return [];
      const entries = await unobstructed(location, { path: folder, is: 'a folder' }, () =>
        readdir(join(location, folder), { recursive: true, withFileTypes: true }),
      );
      return entries
        .filter((entry) => !entry.isDirectory())
        .map(({ parentPath, name }) => relative(join(location, folder), join(parentPath, name)));
    },
    async withFile({ path, bytes }, use) {
      const file = join(location, path);
      try {
        const size = await withRegularFile(file, (_, found) => Promise.resolve(found));
        return size === bytes ? { result: await use(file) } : { problem: 'has another size' };
      } catch (error) {
        // Also what somebody put in its place after its size was looked at.
        if (error instanceof NoRegularFile) return { problem: 'is missing' };
        throw error;
      }
    },
    async removeSnapshot(id) {
      for (const [folder, name] of [
        [snapshots, id],
        [join(location, 'marts'), id],
      ] as const) {
        if ((await linkAbove(relative(location, join(folder, name)))) !== undefined) continue;
        if (!existsSync(join(folder, name))) continue;
        const gone = join(folder, `${draftPrefix}gone-${name}`);
        await rename(join(folder, name), gone);
        await rm(gone, { recursive: true, force: true });
      }
    },
    async removeLeftovers(of) {
      const leftovers =
        of === 'marts'
          ? await leftoversOfBuilds()
          : [
              ...(await matching(snapshots, /^\.tmp-/)),
              ...(await matching(location, /^\.latest\.json\.\d+$|^\.retention\.json\.\d+$/)),
            ];
      await Promise.all(leftovers.map((path) => rm(path, { recursive: true, force: true })));
    },
    close: () => Promise.resolve(),
  };
  return lake;

  function isLink(folder: string): LakeRefused {
    return new LakeRefused(location, `${folder} is a link, and nothing is written through one`);
  }

  async function leftoversOfBuilds(): Promise<string[]> {
    const marts = join(location, 'marts');
    const kept = await namesOfMarts(lake);
    const ids = await ownNamesIn(marts);
    const folders = (
      await Promise.all(ids.filter((id) => kept.has(id)).map((id) => matching(join(marts, id), /^[^.]/)))
    ).flat();
    return [
      ...ids.filter((id) => !kept.has(id)).map((id) => join(marts, id)),
      ...(await Promise.all(folders.map((folder) => matching(folder, /^\.tmp-/)))).flat(),
      ...(await matching(location, /^\.latest-marts\.json\.\d+$/)),
    ];
  }

  async function matching(folder: string, pattern: RegExp): Promise<string[]> {
    const names = await ownNamesIn(folder);
    return names.filter((name) => pattern.test(name)).map((name) => join(folder, name));
  }

  /** Of what is to be removed. */
  async function ownNamesIn(folder: string): Promise<string[]> {
    const isOurs = (await linkAbove(join(relative(location, folder), 'any'))) === undefined;
    return isOurs ? namesIn(folder) : [];
  }

  /** Where a file is made before it gets its name, beside it; what a killed process left there is removed. Nothing is made behind a link. */
  async function draftBeside(path: string): Promise<{ target: string; draft: string }> {
    const link = await linkAbove(path);
    if (link !== undefined) throw isLink(link);
    const target = join(location, path);
    const draft = join(dirname(target), `${draftPrefix}${basename(target)}.${process.pid}`);
    await rm(draft, { force: true });
    return { target, draft };
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
      if (isCode(error, 'ENOENT')) return [];
      if (error instanceof LakeRefused) throw error;
      throw new LakeRefused(location, codeOf(error), error);
    }
  }
}

const draftPrefix = '.tmp-';

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
    if (error instanceof NoRegularFile) return false;
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
    if (isCode(error, 'ENOSPC')) throw error;
    await copyRegularFile(source, target, bytes);
    await bringToDisk(target);
  }
}

function isCode(error: unknown, code: string): boolean {
  return codeOf(error) === code;
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
