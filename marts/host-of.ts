import { randomUUID } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { codeOf } from '../errors/code-of.ts';
import type { Host } from '../warehouse/hosts/note-host.ts';

/** The host of a home. Its ID is made once; of two processes that make it at once, one wins. */
export async function hostOf(home: string): Promise<Host> {
  const file = join(home, 'host-id');
  await mkdir(home, { recursive: true, mode: 0o700 });
  await writeFile(file, randomUUID(), { flag: 'wx', mode: 0o600 }).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error;
  });
  const hostId = (await readFile(file, 'utf8')).trim();
  return { hostId, name: `${hostname()}:${home}` };
}
