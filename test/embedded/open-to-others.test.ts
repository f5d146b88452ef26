import { execFile } from 'node:child_process';
import { chmod, mkdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { openToOthers } from '../../embedded/open-to-others.ts';
import { postgresAccount } from '../../embedded/postgres-account.ts';
import { temporaryFolder } from './temporary-folder.ts';

test('a program closed to other users is copied once, and they can run the copy', async () => {
  const closed = await temporaryFolder();
  const program = join(closed, 'program');
  await mkdir(join(program, 'bin'), { recursive: true });
  await writeFile(join(program, 'bin', 'say'), '#!/bin/sh\necho said\n', { mode: 0o755 });
  await symlink('say', join(program, 'bin', 'tell'));
  const open = await temporaryFolder();
  await chmod(open, 0o755);
  const copy = join(open, 'cache', 'program-1');

  const made = await Promise.all([openToOthers(program, copy), openToOthers(program, copy)]);

  expect(made).toEqual([copy, copy]);
  const [command, ...args] = (await postgresAccount()).wrap([join(copy, 'bin', 'tell')]);
  expect((await promisify(execFile)(command, args)).stdout).toBe('said\n');
  expect((await stat(join(copy, 'bin'))).mode & 0o777).toBe(0o755);
  await chmod(closed, 0o755);
  expect(await openToOthers(program, copy)).toBe(program);
});
