import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { scratchOfCommand } from '../../lake/files/scratch-of-command.ts';

const home = await mkdtemp(join(tmpdir(), 'daybook-scratch-'));
afterAll(() => rm(home, { recursive: true }));

test('a command removes the downloads of killed commands, and not those of running ones', async () => {
  const own = basename(await scratchOfCommand(home));
  const { pid: gone } = spawnSync(process.execPath, ['--version']);
  const left = own.replace(`-${process.pid}-`, `-${gone}-`);
  const elsewhere = `lake-00000000-${gone}-abcdef`;
  const longAgo = ['lake-aBcDeF', 'lake-00000000-1-abcdef'];
  for (const name of [left, elsewhere, ...longAgo]) {
    await mkdir(join(home, 'tmp', name, 'download'), { recursive: true });
    await writeFile(join(home, 'tmp', name, 'download', 'part'), 'rows');
  }
  const yesterday = new Date(Date.now() - 25 * 3_600_000);
  for (const name of longAgo) await utimes(join(home, 'tmp', name), yesterday, yesterday);
  const next = basename(await scratchOfCommand(home));
  expect((await readdir(join(home, 'tmp'))).sort()).toEqual([own, next, elsewhere].sort());
});
