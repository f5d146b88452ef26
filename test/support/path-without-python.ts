import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';

/** A PATH that has what an export needs but no Python, so that no marts are built after the export. */
export async function pathWithoutPython(cwd: string): Promise<{ PATH: string }> {
  const folder = join(cwd, 'bin');
  await mkdir(folder);
  await symlink('/usr/bin/mkfifo', join(folder, 'mkfifo'));
  return { PATH: folder };
}
