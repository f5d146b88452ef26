import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import type { Host } from '../warehouse/hosts/note-host.ts';
import { createFile } from './create-file.ts';

/** Returns the host of a home. Its ID is created once; if two processes create it at once, one wins. */
export async function hostOf(home: string): Promise<Host> {
  const file = join(home, 'host-id');
  await mkdir(home, { recursive: true, mode: 0o700 });
  await createFile(file, randomUUID());
  const hostId = (await readFile(file, 'utf8')).trim();
  if (!z.uuid().safeParse(hostId).success) {
    // Before release 0.6, a full disk could leave it so.
    await rm(file, { force: true });
    return hostOf(home);
  }
  return { hostId, name: `${hostname()}:${home}` };
}
