import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, rm, writeFile } from 'node:fs/promises';
import { codeOf } from '../errors/code-of.ts';

/**
 * Makes a file of its owner's alone where there is none, with all of the text at once: a disk that is full leaves none. Where there is one
 * it writes nothing, and needs no room.
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
