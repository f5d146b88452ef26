import { lstat, rename, rm, stat, writeFile } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { codeOf } from '../errors/code-of.ts';
import { isTrusted } from '../scripts/own-cache.mjs';
import { UsageError } from './errors.ts';

/** Writes the file that `--out` names, or to an output of this process. Throws UsageError where there can be none. */
export async function writeOutFile(path: string, text: string): Promise<void> {
  const output = outputs[path];
  if (output !== undefined) return writeTo(output, text);
  try {
    await ((await isDevice(path)) ? writeFile(path, text) : replaceFile(path, text));
  } catch (error) {
    throw isPathWrong(error)
      ? new UsageError(`${path} cannot be written: choose another file for --out.`)
      : error;
  }
}

/** Where the shell sends these to a file, their names lead to that file, and opening it once more would write over what is there. */
const outputs: Readonly<Record<string, Writable>> = {
  '/dev/stdout': process.stdout,
  '/dev/stderr': process.stderr,
};

function writeTo(output: Writable, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    output.write(text, (error) => {
      if (error) reject(error);
      else resolve();
    });
  });
}

/**
 * Whether it is a device or a pipe, such as /dev/null, which stays where it is. What another user has put there is none: it is
 * replaced, as a file is, for what is written would be that user's.
 */
async function isDevice(path: string): Promise<boolean> {
  const found = await Promise.all([lstat(path), stat(path)]).catch(() => undefined);
  if (found === undefined) return false;
  const [named, there] = found;
  return !there.isFile() && isTrusted(named.uid) && isTrusted(there.uid);
}

/** A reader that opens the file meanwhile sees either the old or the new version. */
async function replaceFile(path: string, text: string): Promise<void> {
  const beside = `${path}.${process.pid}.tmp`;
  try {
    // Always a new file: in a folder of many users a link may wait under this name.
    await rm(beside, { force: true });
    await writeFile(beside, text, { flag: 'wx' });
    await rename(beside, path);
  } finally {
    await rm(beside, { force: true });
  }
}

function isPathWrong(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'EISDIR', 'EACCES'].includes(String(codeOf(error)));
}
