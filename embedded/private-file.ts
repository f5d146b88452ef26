import { randomBytes } from 'node:crypto';
import { link, open, rename, rm } from 'node:fs/promises';
import { codeOf } from '../errors/code-of.ts';

/** Writes a file that only its owner can read; a reader sees the old text or the new one, never a part. */
export async function replacePrivateFile(path: string, text: string): Promise<void> {
  const temporary = await writeBeside(path, text);
  await rename(temporary, path);
}

/**
 * Like `replacePrivateFile`, but only where no file is: of two processes that try at once, one succeeds.
 * Returns whether this call made the file.
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
