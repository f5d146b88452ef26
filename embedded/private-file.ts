import { randomBytes } from 'node:crypto';
import { constants, link, open, rename, rm } from 'node:fs/promises';
import { codeOf } from '../errors/code-of.ts';
import { isTrusted } from '../scripts/own-cache.mjs';

/** Writes a file that only its owner can read. Readers see either the old or the new text, never a part. */
export async function replacePrivateFile(path: string, text: string): Promise<void> {
  const temporary = await writeBeside(path, text);
  await rename(temporary, path);
}

/**
 * Like `replacePrivateFile`, but only if there is no file yet: of two concurrent calls, one succeeds.
 * Returns whether this call created the file.
 */
export async function createPrivateFile(path: string, text: string): Promise<boolean> {
  const temporary = await writeBeside(path, text);
  try {
    await link(temporary, path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(temporary, { force: true });
  }
}

/**
 * Returns the text of a file that belongs to us or root; undefined if there is none. A file of another user, or a link, is not read, because
 * that user may know its content. Throws an error that names the file.
 */
export async function readPrivateFile(path: string): Promise<string | undefined> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    if (codeOf(error) === 'ELOOP') throw new Error(`${path} is a link, so it was not read.`);
    throw error;
  });
  if (file === undefined) return undefined;
  try {
    const found = await file.stat();
    if (!found.isFile()) throw new Error(`${path} is not a file, so it was not read.`);
    if (!isTrusted(found.uid))
      throw new Error(`${path} belongs to another user (${found.uid}), who knows what it says.`);
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

async function writeBeside(path: string, text: string): Promise<string> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}`;
  const file = await open(temporary, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  return temporary;
}
