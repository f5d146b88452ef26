import { constants, existsSync } from 'node:fs';
import { lstat, mkdir, open, stat } from 'node:fs/promises';
import { basename, join, sep } from 'node:path';
import { codeOf } from '../../errors/code-of.ts';

/** At the path of a folder there is nothing, or something that Daybook does not enter: a link, a file. */
export class NoFolder extends Error {
  override readonly name = 'NoFolder';
  /** The system's code: ENOENT, ENOTDIR, ELOOP. */
  readonly code: string;

  constructor(name: string, code: string) {
    super(`${name} is no folder (${code}).`);
    this.code = code;
  }
}

/**
 * Works in a folder of a lake, by a path that is valid during the work. Anyone with write access to the lake can replace a folder at any moment,
 * so each folder is opened from the one above, never by a link, and the path leads through its descriptor to the folder that was opened, even
 * if its name has been reused. This requires Linux. Elsewhere the path is the usual one, and each folder on it is checked first. The lake itself
 * may be a link, because its operator chose it. Throws NoFolder.
 */
export async function inFolderBelow<Result>(
  lake: string,
  { path, make = false }: { path: string; /** Whether missing folders are created. */ make?: boolean },
  work: (folder: string) => Promise<Result>,
): Promise<Result> {
  const names = path.split(sep).filter((name) => name !== '.');
  const step = (folder: string, place: number): Promise<Result> => {
    const name = names[place];
    if (name === undefined) return work(folder);
    return opened(join(folder, name), { make }, (inner) => step(inner, place + 1));
  };
  if (make) await mkdir(lake, { recursive: true });
  return opened(lake, { mayBeLink: true }, (folder) => step(folder, 0));
}

/** Works in a folder inside one that is already open. Throws NoFolder. */
export function inFolder<Result>(
  above: string,
  name: string,
  work: (folder: string) => Promise<Result>,
): Promise<Result> {
  return opened(join(above, name), {}, work);
}

interface Way {
  readonly mayBeLink?: boolean;
  readonly make?: boolean;
}

async function opened<Result>(
  path: string,
  { make = false, mayBeLink = false }: Way,
  work: (folder: string) => Promise<Result>,
): Promise<Result> {
  const folder = await openFolder(path, mayBeLink).catch(async (error: unknown) => {
    if (!make || codeOf(error) !== 'ENOENT') throw error;
    await mkdir(path).catch(unlessThere);
    return openFolder(path, mayBeLink);
  });
  try {
    return await work(folder.path);
  } finally {
    await folder.close();
  }
}

interface OpenFolder {
  readonly path: string;
  readonly close: () => Promise<void>;
}

async function openFolder(path: string, mayBeLink: boolean): Promise<OpenFolder> {
  try {
    return await (hasPathsOfDescriptors ? openDescriptor : lookAt)(path, mayBeLink);
  } catch (error) {
    const code = String(codeOf(error));
    throw ['ENOENT', 'ENOTDIR', 'ELOOP'].includes(code) ? new NoFolder(basename(path), code) : error;
  }
}

const hasPathsOfDescriptors = process.platform === 'linux' && existsSync('/proc/self/fd');

async function openDescriptor(path: string, mayBeLink: boolean): Promise<OpenFolder> {
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
  const folder = await open(path, O_RDONLY | O_DIRECTORY | (mayBeLink ? 0 : O_NOFOLLOW));
  return { path: `/proc/self/fd/${folder.fd}`, close: () => folder.close() };
}

async function lookAt(path: string, mayBeLink: boolean): Promise<OpenFolder> {
  const found = await (mayBeLink ? stat : lstat)(path);
  if (!found.isDirectory()) throw new NoFolder(basename(path), 'ENOTDIR');
  return { path, close: () => Promise.resolve() };
}

/** Somebody else may have made it meanwhile; its kind is checked when it is opened. */
function unlessThere(error: unknown): void {
  if (codeOf(error) !== 'EEXIST') throw error;
}
