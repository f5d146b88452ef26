import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { inOrder } from '../../errors/in-order.ts';
import { removeScratch } from '../../lake/files/remove-scratch.ts';
import { isLockNotHeld, LockNotHeld } from '../../lake/lock-not-held.ts';
import { lockHeld } from './lock-held.ts';

test('a writer that has lost its lock leaves the scratch folder, which may be that of the next one', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'daybook-scratch-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const scratch = join(folder, 'scratch');
  await mkdir(scratch);
  await writeFile(join(scratch, 'rows'), '');
  await removeScratch(scratch, () => Promise.reject(new Error('The lock is lost.')));
  expect(await readdir(scratch)).toEqual(['rows']);
  await removeScratch(scratch, lockHeld);
  expect(await readdir(folder)).toEqual([]);
});

test('removals go on after one that failed, and end with the loss of the lock', async () => {
  const done: string[] = [];
  const steps = [
    () => Promise.reject(new Error('EACCES')),
    () => Promise.resolve(done.push('second')),
    () => Promise.reject(new LockNotHeld('lost')),
    () => Promise.resolve(done.push('fourth')),
  ];
  await expect(inOrder(steps, isLockNotHeld)).rejects.toMatchObject({ why: 'lost' });
  expect(done).toEqual(['second']);
});
