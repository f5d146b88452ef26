import { lstat, rename, rm, stat, writeFile } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { codeOf } from '../errors/code-of.ts';
import { isTrusted } from '../scripts/own-cache.mjs';
import { UsageError } from './errors.ts';

/** Writes the file that `--out` names, or to stdout or stderr. Throws UsageError if the path cannot be written. */
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

/** If the shell redirects one of these to a file, its name leads to that file, and opening it again would overwrite what is there. */
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
 * True for a device or a pipe, such as /dev/null, which must not be replaced. False for one that another user has put there: it is
 * replaced like a file, because its owner could read what is written.
 */
async function isDevice(path: string): Promise<boolean> {
  const found = await Promise.all([lstat(path), stat(path)]).catch(() => undefined);
  if (found === undefined) return false;
  const [named, there] = found;
  return !there.isFile() && isTrusted(named.uid) && isTrusted(there.uid);
}

/** Replaces the file atomically: concurrent readers see either the old or the new version. */
async function replaceFile(path: string, text: string): Promise<void> {
  const beside = `${path}.${process.pid}.tmp`;
  try {
    // The file is always new: in a folder shared by many users, a link may wait under this name.
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
