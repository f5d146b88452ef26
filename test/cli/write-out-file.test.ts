import { execFileSync } from 'node:child_process';
import { chown, lstat, open, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeOutFile } from '../../cli/write-out-file.ts';
import { temporaryFolder } from '../embedded/temporary-folder.ts';

const page = '<!doctype html>';

test('a file, or a link to one, is replaced by a new file', async () => {
  const folder = await temporaryFolder();
  const [file, link] = [join(folder, 'file.html'), join(folder, 'link.html')];
  await writeFile(file, 'old');
  await symlink(file, link);
  await writeOutFile(link, page);
  expect((await lstat(link)).isFile()).toBe(true);
  expect(await readFile(file, 'utf8')).toBe('old');
  await writeOutFile(file, page);
  expect(await readFile(file, 'utf8')).toBe(page);
});

test('a pipe, or a link to a device, receives the output and stays', async () => {
  const folder = await temporaryFolder();
  const [pipe, link] = [join(folder, 'pipe'), join(folder, 'null')];
  execFileSync('mkfifo', [pipe]);
  await symlink('/dev/null', link);
  const [read] = await Promise.all([readFile(pipe, 'utf8'), writeOutFile(pipe, page)]);
  expect(read).toBe(page);
  expect((await lstat(pipe)).isFIFO()).toBe(true);
  await writeOutFile(link, page);
  expect((await lstat(link)).isSymbolicLink()).toBe(true);
  expect((await stat('/dev/null')).isCharacterDevice()).toBe(true);
});

test.skipIf(process.getuid?.() !== 0)('a pipe that another user created is replaced', async () => {
  const pipe = join(await temporaryFolder(), 'pipe');
  execFileSync('mkfifo', [pipe]);
  await chown(pipe, 54_321, 54_321);
  await writeOutFile(pipe, page);
  expect(await readFile(pipe, 'utf8')).toBe(page);
  expect((await lstat(pipe)).isFile()).toBe(true);
});

test('a folder is refused', async () => {
  await expect(writeOutFile(await temporaryFolder(), page)).rejects.toThrow('choose another file for --out');
});

test("the process's own output is appended to, and its file stays", async () => {
  const file = join(await temporaryFolder(), 'page.html');
  const program = `import { writeOutFile } from './cli/write-out-file.ts';
    process.stdout.write('before ');
    await writeOutFile('/dev/stdout', 'page');
    process.stdout.write(' after');`;
  const output = await open(file, 'w');
  const { ino } = await output.stat();
  execFileSync(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', program], {
    stdio: ['ignore', output.fd, 'inherit'],
  });
  await output.close();
  expect(await readFile(file, 'utf8')).toBe('before page after');
  expect((await stat(file)).ino).toBe(ino);
  expect((await lstat('/dev/stdout')).isSymbolicLink()).toBe(true);
});
