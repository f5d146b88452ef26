import { createHash } from 'node:crypto';
import { lstat, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { codeOf } from '../../errors/code-of.ts';
import { temporaryFolder } from './temporary-folder.ts';

/**
 * Creates a folder for a command's downloads. It is in the home, where an erasure finds the leftovers of a killed command. Removes such
 * leftovers first.
 */
export async function scratchOfCommand(home: string): Promise<string> {
  const folder = temporaryFolder(home);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (!(await lstat(folder)).isDirectory())
    throw new Error(`${folder} is a link; remove it, and a folder is made.`);
  for (const name of await readdir(folder))
    if (await isLeftover(folder, name)) await rm(join(folder, name), { recursive: true, force: true });
  return mkdtemp(join(folder, `lake-${thisHost}-${process.pid}-`));
}

/** Whether the folder's process is gone or, if it ran on another host or in another container, whether the folder is a day old. */
async function isLeftover(folder: string, name: string): Promise<boolean> {
  if (!name.startsWith('lake-')) return false;
  const [, host, pid] = /^lake-([0-9a-f]{8})-(\d+)-/.exec(name) ?? [];
  if (host === thisHost) return !isRunning(Number(pid));
  const found = await lstat(join(folder, name)).catch(() => undefined);
  return found !== undefined && Date.now() - found.mtimeMs > 24 * 3_600_000;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Another user's process may not be signaled, but it exists.
    return codeOf(error) !== 'ESRCH';
  }
}

const thisHost = createHash('sha256').update(hostname()).digest('hex').slice(0, 8);
