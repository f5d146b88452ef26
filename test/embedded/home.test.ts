import { execFile } from 'node:child_process';
import {
  chmod,
  chown,
  lchown,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { HomeInUseError, lockHome } from '../../embedded/home-lock.ts';
import { openHome } from '../../embedded/home.ts';
import { readRuntimeFile, removeRuntimeFile, writeRuntimeFile } from '../../embedded/runtime-file.ts';
import { embeddedSecretKey } from '../../embedded/secret-key.ts';
import { startEmbeddedProcess } from './embedded-process.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { runDaybook } from '../support/daybook-process.ts';
import { proofTest } from '../support/proof-test.ts';

const facts = {
  startedAt: '2026-01-31T12:00:00.000Z',
  database: { url: 'postgres://daybook:secret@127.0.0.1:54329/daybook', isEmbedded: true },
  temporal: { address: '127.0.0.1:7233', ui: 'http://127.0.0.1:8233' },
};

test('a second start on a home is refused, and the error names the running process', async () => {
  const home = await temporaryFolder();
  const first = await startEmbeddedProcess(home);
  await expect(startEmbeddedProcess(home)).rejects.toThrow(
    new RegExp(`Daybook already runs on ${home} \\(process ${first.pid}, since .*\\); stop it first`),
  );
});

test('a home is free again after its process was killed or stopped', async () => {
  const home = await temporaryFolder();
  const killed = await startEmbeddedProcess(home);
  await killed.end('SIGKILL');
  const stopped = await startEmbeddedProcess(home);
  expect(await stopped.end('SIGTERM')).toBe(0);
  await startEmbeddedProcess(home);
});

proofTest("a killed process's home goes to exactly one of several processes that start at once", async () => {
  const home = await temporaryFolder();
  await (await startEmbeddedProcess(home)).end('SIGKILL');
  const starts = await Promise.allSettled(Array.from({ length: 5 }, () => startEmbeddedProcess(home)));
  expect(starts.filter((start) => start.status === 'fulfilled')).toHaveLength(1);
});

test('a claim with the PID of a living process that started at another time does not count', async () => {
  const home = await openHome(await temporaryFolder());
  const claim = { pid: process.ppid, identity: 'another boot/1', since: '2026-01-31T12:00:00.000Z' };
  await writeFile(join(home.locks, `${process.ppid}.claim`), JSON.stringify(claim));
  const lock = await lockHome(home, new Date());
  await expect(lockHome(home, new Date())).rejects.toThrow(HomeInUseError);
  await lock.release();
});

test.each([
  ['is a file', 'file', 'EEXIST'],
  ['is below a file', 'file/home', 'ENOTDIR'],
  ['has too long a name', 'x'.repeat(256), 'ENAMETOOLONG'],
])('a home that %s is refused in one sentence', async (_, name, code) => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'file'), '');
  const home = join(folder, name);
  const ended = await runDaybook(['sql', 'select 1'], { env: { DAYBOOK_HOME: home }, cwd: folder });
  expect(ended).toEqual({
    code: 2,
    stdout: '',
    stderr: `${home} cannot be the home of Daybook (${code}): set DAYBOOK_HOME to a folder that this user may write in.\n`,
  });
});

test.skipIf(process.platform !== 'linux')(
  'a home in a folder where nothing can be created is refused, without endless retries',
  async () => {
    await expect(openHome('/proc/nowhere/home')).rejects.toThrow('cannot be the home of Daybook (ENOENT)');
  },
);

test('a home is created with its parent folders, even by several processes at once', async () => {
  const path = join(await temporaryFolder(), 'a', 'b');
  const homes = await Promise.all(Array.from({ length: 5 }, () => openHome(path)));
  expect(new Set(homes.map(({ root }) => root))).toEqual(new Set([path]));
  expect((await stat(join(path, '..'))).mode & 0o777).toBe(0o700);
});

const otherUser = 54_321;

test.skipIf(process.getuid?.() !== 0)(
  "a home that belongs to another user, or has another user's file, is refused with the remedy",
  async () => {
    const planted = await temporaryFolder();
    await writeFile(join(planted, 'postgres.superuser'), 'known to another\n');
    await chown(join(planted, 'postgres.superuser'), otherUser, otherUser);
    await expect(openHome(planted)).rejects.toThrow(`${planted}/postgres.superuser belongs to another user`);
    const folder = await temporaryFolder();
    await chown(folder, otherUser, otherUser);
    await expect(openHome(folder)).rejects.toThrow(/belongs to another user \(54321\).*set DAYBOOK_HOME/);
    const { code, stderr } = await runDaybook(['status'], {
      env: { DAYBOOK_HOME: folder },
      cwd: await temporaryFolder(),
    });
    expect(stderr).toContain('set DAYBOOK_HOME to a folder of your own');
    expect(code).toBe(2);
  },
);

test.skipIf(process.getuid?.() !== 0)(
  'a home that belongs to root and that every user may write in is refused',
  async () => {
    const folder = await temporaryFolder();
    await chmod(folder, 0o777);
    const asOther = `
    process.seteuid(${otherUser});
    const { openHome } = await import(${JSON.stringify(new URL('../../embedded/home.ts', import.meta.url).href)});
    await openHome(process.argv[1]).then(() => console.log('opened'), (error) => console.log(error.message));`;
    const args = ['--import', 'tsx', '--input-type=module', '--eval', asOther, folder];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    expect(stdout.trim()).toBe(
      `Every user may write in ${folder}, which belongs to root: set DAYBOOK_HOME to a folder in it, such as ${folder}/daybook, which is made for you alone.`,
    );
  },
);

test.skipIf(process.getuid?.() !== 0)(
  'a secret key file that another user planted, or that is a link, is not used',
  async () => {
    const home = await openHome(await temporaryFolder());
    await writeFile(home.secretKeyFile, `${Buffer.alloc(32).toString('base64')}\n`);
    await chown(home.secretKeyFile, otherUser, otherUser);
    await expect(embeddedSecretKey(home)).rejects.toThrow(`${home.secretKeyFile} belongs to another user`);
    await rm(home.secretKeyFile);
    await symlink('/etc/hostname', home.secretKeyFile);
    await expect(embeddedSecretKey(home)).rejects.toThrow(`${home.secretKeyFile} is a link`);
  },
);

test.skipIf(process.getuid?.() !== 0)(
  "commands that read the lake refuse another user's home or a link in it, and remove nothing there",
  async () => {
    const [home, elsewhere] = [await temporaryFolder(), await temporaryFolder()];
    await mkdir(join(elsewhere, 'lake-important'));
    await utimes(join(elsewhere, 'lake-important'), 0, 0);
    await symlink(elsewhere, join(home, 'tmp'));
    await lchown(home, otherUser, otherUser);
    const list = { env: { DAYBOOK_HOME: home }, cwd: await temporaryFolder() };
    const refused = await runDaybook(['snapshots', 'list'], list);
    expect(refused.stderr).toContain('set DAYBOOK_HOME to a folder of your own');
    await chown(home, 0, 0);
    const isLink = await runDaybook(['snapshots', 'list'], list);
    expect(isLink.stderr).toContain(`${join(home, 'tmp')} is a link`);
    expect(await readdir(elsewhere)).toEqual(['lake-important']);
  },
);

test('a home that others could write in is closed to them when opened', async () => {
  const folder = await temporaryFolder();
  await chmod(folder, 0o777);
  await openHome(folder);
  expect((await stat(folder)).mode & 0o777).toBe(0o755);
});

test('the runtime file is private, and is ignored once its writer is dead', async () => {
  const home = await openHome(await temporaryFolder());
  expect(await readRuntimeFile(home)).toBeUndefined();
  await writeRuntimeFile(home, facts);
  expect((await stat(home.runtimeFile)).mode & 0o777).toBe(0o600);
  expect(await readRuntimeFile(home)).toEqual({ ...facts, pid: process.pid });

  const written = await readFile(home.runtimeFile, 'utf8');
  await writeFile(home.runtimeFile, written.replace(/"identity": ".*"/, '"identity": "another boot/1"'));
  expect(await readRuntimeFile(home)).toBeUndefined();
  await removeRuntimeFile(home);
  await removeRuntimeFile(home);
});

test('the secret key is created once, even concurrently: 32 bytes that only its owner can read', async () => {
  const home = await openHome(await temporaryFolder());
  const keys = await Promise.all(Array.from({ length: 5 }, () => embeddedSecretKey(home)));
  expect(new Set(keys.map((key) => key.toString('base64'))).size).toBe(1);
  expect(keys[0]).toHaveLength(32);
  expect((await stat(home.secretKeyFile)).mode & 0o777).toBe(0o600);
});

test('a damaged secret key is refused, not replaced', async () => {
  const home = await openHome(await temporaryFolder());
  await writeFile(home.secretKeyFile, 'c2hvcnQ=\n');
  await expect(embeddedSecretKey(home)).rejects.toThrow(/not 32 bytes/);
  expect(await readFile(home.secretKeyFile, 'utf8')).toBe('c2hvcnQ=\n');
});
