import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf } from '../../errors/code-of.ts';
import { LakeRefused } from '../errors.ts';

/** A path of a lake, and the kind of entry that Daybook keeps there while it works. */
export interface LakePlace {
  readonly path: string;
  readonly is: 'a file' | 'a folder' | 'free';
}

/**
 * Works at a place of a lake. If a file has the name of a folder, or a folder the name of a file, no attempt can succeed until a person has
 * moved it: throws LakeRefused, which names it.
 */
export async function unobstructed<Result>(
  location: string,
  place: LakePlace,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!obstructed.has(codeOf(error))) throw error;
    const obstacle = await obstacleTo(location, place);
    if (obstacle === undefined) throw error;
    throw new LakeRefused(location, obstacle, error);
  }
}

/** EPERM: the error on macOS if a folder is to be removed as a file. */
const obstructed = new Set<unknown>(['ENOTDIR', 'EISDIR', 'EPERM', 'EEXIST', 'ENOTEMPTY']);

/** Describes the obstacle; undefined if every name on the path is of the right kind. */
async function obstacleTo(location: string, { path, is }: LakePlace): Promise<string | undefined> {
  if ((await readKind(location)) === 'a file') return 'it is a file, not a folder';
  for (const name of namesOnTheWay(path)) {
    const kind = await readKind(join(location, name));
    if (kind === undefined || kind === (name === path ? is : 'a folder')) continue;
    return `${name} is ${kind}, in the way of what Daybook keeps under that name; move it elsewhere`;
  }
  return undefined;
}

/** `a/b/c` gives `a`, `a/b`, `a/b/c`. */
function namesOnTheWay(path: string): string[] {
  const above = dirname(path);
  return above === '.' ? [path] : [...namesOnTheWay(above), path];
}

/** Returns undefined if there is nothing. */
async function readKind(path: string): Promise<'a file' | 'a folder' | undefined> {
  const found = await stat(path).catch(() => undefined);
  return found && (found.isDirectory() ? 'a folder' : 'a file');
}
