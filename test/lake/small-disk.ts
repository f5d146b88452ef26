import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll } from 'vitest';

const run = promisify(execFile);

/** Only root may mount a file system, and only Linux has this one. */
export const mayMount: boolean = process.platform === 'linux' && process.getuid?.() === 0;

/** A folder on a separate disk of so many megabytes, for the test file that calls this at its top. */
export async function smallDisk(megabytes: number): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'daybook-test-disk-'));
  await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder]);
  afterAll(async () => {
    // DuckDB keeps an unfinished file open until its process ends.
    await run('umount', ['--lazy', folder]);
    await rm(folder, { recursive: true, force: true });
  });
  return folder;
}
