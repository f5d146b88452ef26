import { readFile } from 'node:fs/promises';
import { codeOf } from '../errors/code-of.ts';

/** Returns the text of a file, or undefined if there is no such file. */
export async function readFileIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
