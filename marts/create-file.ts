import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, rm, writeFile } from 'node:fs/promises';
import { codeOf } from '../errors/code-of.ts';

/**
 * Creates a file that only its owner can read, if it does not exist, with the whole text atomically: a full disk leaves no partial file. If the
 * file exists, it writes nothing, and needs no space.
 */
export async function createFile(path: string, text: string): Promise<void> {
  if (existsSync(path)) return;
  const draft = `${path}.${randomUUID()}`;
  try {
    await writeFile(draft, text, { flag: 'wx', mode: 0o600 });
    await link(draft, path);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  } finally {
    await rm(draft, { force: true });
  }
}
