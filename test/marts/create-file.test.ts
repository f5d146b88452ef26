import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createFile } from '../../marts/create-file.ts';

const folder = await mkdtemp(join(tmpdir(), 'daybook-test-create-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

test('simultaneous calls create one file, and leave nothing beside it', async () => {
  const path = join(folder, 'made');
  await Promise.all(['one', 'two', 'three'].map((text) => createFile(path, text)));
  expect(['one', 'two', 'three']).toContain(await readFile(path, 'utf8'));
  expect(await readdir(folder)).toEqual(['made']);
});

test('an existing file is kept, and nothing is written beside it', async () => {
  // No file fits beside one with a name of the greatest length.
  const path = join(folder, 'n'.repeat(255));
  await writeFile(path, 'there');
  await createFile(path, 'another');
  expect(await readFile(path, 'utf8')).toBe('there');
});
