import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  symlinkSync,
} from 'node:fs';
import { lstat, mkdtemp, mkdir, readdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { basename, dirname, join, relative } from 'node:path';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { openLake } from '../../lake/open-lake.ts';
import { filesBeside } from '../../lake/snapshots/find-damage.ts';
import { manifestText, sha256Of } from '../../lake/manifest/manifest.ts';
import { emptyManifest } from './empty-manifest.ts';
import { readManifest, readPointer } from '../../lake/manifest/pointer.ts';
import { sha256OfFile } from '../../lake/parquet/read-back.ts';
import { verifySnapshot } from '../../lake/snapshots/verify-snapshot.ts';
import { onceDone } from './once-done.ts';

/** A folder to which somebody else can write. */
const location = await mkdtemp(join(tmpdir(), 'daybook-hostile-folder-'));
const lake = await openLake({ location, scratch: join(location, 'scratch') });
const pointer = join(location, 'latest.json');
afterEach(() => rm(location, { recursive: true, force: true }));

const rightPointer = JSON.stringify({
  snapshot_id: '20260101T000000Z-abcdef',
  manifest: 'snapshots/20260101T000000Z-abcdef/_manifest.json',
  manifest_sha256: 'a'.repeat(64),
});

test('a pointer in the form that Daybook writes is read', async () => {
  await mkdir(location, { recursive: true });
  await writeFile(pointer, rightPointer);
  expect(JSON.stringify(await readPointer(lake))).toBe(rightPointer);
});

test.each<[string, () => Promise<void>]>([
  // Its content would be valid if it were read.
  ['larger than any that Daybook writes', () => writeFile(pointer, rightPointer.padEnd(2 ** 20 + 1))],
  ['a pipe that nobody writes to', () => Promise.resolve(void execFileSync('mkfifo', [pointer]))],
  ['a device that never ends', () => symlink('/dev/zero', pointer)],
  ['a folder', () => mkdir(pointer)],
  ['a link to a file', () => linkTo(pointer, rightPointer)],
])('a pointer that is %s is not read, and the error says that Daybook did not write it', async (_, put) => {
  await mkdir(location, { recursive: true });
  await put();
  await expect(readPointer(lake)).rejects.toThrow(/latest\.json of the lake .* is not what Daybook wrote/);
});

test('a manifest larger than any that an export writes is not read', async () => {
  const id = '20260101T000000Z-abcdef';
  await mkdir(join(location, 'snapshots', id), { recursive: true });
  const manifest = join(location, 'snapshots', id, '_manifest.json');
  await writeFile(manifest, '');
  await truncate(manifest, 64 * 2 ** 20 + 1);
  const before = process.memoryUsage().rss;
  await expect(readManifest(lake, id)).rejects.toThrow(/_manifest\.json of the lake .* is not what Daybook/);
  expect(process.memoryUsage().rss - before).toBeLessThan(30_000_000);
});

test.each([
  ['empty entries', '{"unfit":[{}', ',{}'],
  ['tables of no name', '{"tables":{"0":0', ',"0":0'],
  ['watermarks', '{"watermarks":[0', ',0'],
])(
  'a manifest of one or eight million %s is refused without blocking for a second',
  async (_, start, more) => {
    const id = '20260101T000000Z-abcdef';
    await mkdir(join(location, 'snapshots', id), { recursive: true });
    for (const count of [8_000_000, 1_000_000]) {
      const text = start + more.repeat(count) + (start.includes('[') ? ']}' : '}}');
      await writeFile(join(location, 'snapshots', id, '_manifest.json'), text);
      const delay = monitorEventLoopDelay({ resolution: 5 });
      delay.enable();
      await expect(readManifest(lake, id)).rejects.toThrow(
        /_manifest\.json of the lake .* is not what Daybook/,
      );
      delay.disable();
      expect(delay.max / 1e6).toBeLessThan(1_000);
    }
  },
);

test('a manifest that would be too large to read is refused before it is written', () => {
  const unfit = { table: 'bills', column: 'total_amount', key: { id: 'b' }, value: '1'.repeat(1_000) };
  const manifest = {
    ...emptyManifest('20260101T000000Z-abcdef', 'w'),
    unfit: Array.from({ length: 70_000 }, () => unfit),
  };
  expect(() => manifestText(manifest)).toThrow(
    /^The manifest of a snapshot would list 0 files, 0 watermarks of streams, and 70,000 values that do not fit their Parquet type/,
  );
});

test('a data file that is a pipe counts as missing, and is not waited for', async () => {
  const id = '20260101T000000Z-abcdef';
  const snapshot = join(location, 'snapshots', id);
  await mkdir(join(snapshot, 'bills'), { recursive: true });
  execFileSync('mkfifo', [join(snapshot, 'bills', 'part-00000.parquet')]);
  const pipe = { path: `snapshots/${id}/bills/part-00000.parquet`, bytes: 0 };
  expect(await lake.withFile(pipe, () => Promise.resolve('opened'))).toEqual({ problem: 'is missing' });
  expect((await verifySnapshot(lake, { id, spillFolder: location })).problems).not.toEqual([]);
});

const file = { path: 'snapshots/20260101T000000Z-abcdef/bills/part-00000.parquet', bytes: 4 };
const kept = { ...file, sha256: sha256Of('ours') };

test('a data file that is a link counts as missing, and is not shared under another name', async () => {
  await mkdir(dirname(join(location, file.path)), { recursive: true });
  await linkTo(join(location, file.path), 'ours');
  expect(await lake.withFile(file, () => Promise.resolve('opened'))).toEqual({ problem: 'is missing' });
  expect(await lake.share(kept, 'iceberg/ours')).toBe(false);
});

test.each<[string, (path: string) => Promise<void>]>([
  ['a pipe', (path) => Promise.resolve(void execFileSync('mkfifo', [path]))],
  [
    'a link to a pipe',
    async (path) => {
      execFileSync('mkfifo', [`${path}.pipe`]);
      await symlink(`${path}.pipe`, path);
    },
  ],
  ['nothing', () => Promise.resolve()],
])('a data file replaced by %s after its size was checked counts as missing', async (_, put) => {
  await putFile(file.path, 'ours');
  const used = await lake.withFile(file, async (localPath) => {
    await rm(localPath);
    await put(localPath);
    return sha256OfFile(localPath, file.bytes);
  });
  expect(used).toEqual({ problem: 'is missing' });
});

test.each<[string, string, (path: string) => Promise<unknown>, () => Promise<unknown>]>([
  ['latest.json', 'folder', (path) => mkdir(join(path, 'full'), { recursive: true }), () => replacePointer()],
  ['latest.json', 'folder', (path) => mkdir(path), () => replacePointer()],
  ['snapshots', 'file', (path) => writeFile(path, ''), () => lake.removeLeftovers('snapshots')],
  ['snapshots', 'file', (path) => writeFile(path, ''), () => lake.snapshotIds()],
  ['snapshots', 'file', (path) => writeFile(path, ''), () => readManifest(lake, '20260101T000000Z-abcdef')],
  ['iceberg', 'file', (path) => writeFile(path, ''), () => lake.filesIn('iceberg')],
  ['snapshots', 'file', (path) => writeFile(path, ''), () => lake.foldersIn('snapshots')],
  ['iceberg', 'file', (path) => writeFile(path, ''), () => lake.share(kept, 'iceberg/bills/data/a.parquet')],
  ['marts', 'file', (path) => writeFile(path, ''), () => lake.putFile('marts/m/a.parquet', pointer)],
  ['marts/a', 'folder', (path) => mkdir(path, { recursive: true }), () => lake.putFile('marts/a', pointer)],
  ['marts/a', 'folder', (path) => mkdir(path, { recursive: true }), () => lake.removeFile('marts/a')],
])('%s that is a %s is reported in a sentence, and not retried', async (path, kind, put, use) => {
  await putFile(file.path, 'ours');
  if (path !== 'latest.json') await writeFile(pointer, rightPointer);
  if (path === 'snapshots') await rm(join(location, path), { recursive: true });
  await put(join(location, path));
  await expect(use()).rejects.toMatchObject({
    handling: 'stop',
    message:
      `Cannot use the lake ${location}: ${path} is a ${kind}, in the way of what Daybook keeps under that name; move it elsewhere. ` +
      'Check DAYBOOK_LAKE and its permissions.',
  });
});

test('a folder in the place of a snapshot to publish is reported in a sentence', async () => {
  const id = '20260101T000000Z-abcdef';
  const draft = lake.draftFolder(id);
  await mkdir(draft, { recursive: true });
  await writeFile(join(draft, '_manifest.json'), '{}');
  await putFile(file.path, 'theirs');
  await expect(lake.publish(id, { written: new Map(), kept: [] })).rejects.toThrow(
    `Cannot use the lake ${location}: snapshots/${id} is a folder, in the way of`,
  );
});

test('a lake that is a file is reported in a sentence', async () => {
  await rm(location, { recursive: true, force: true });
  await writeFile(location, '');
  for (const use of [() => readPointer(lake), () => lake.snapshotIds(), () => replacePointer()])
    await expect(use()).rejects.toThrow(`Cannot use the lake ${location}: it is a file, not a folder.`);
});

test('a pipe is refused as a file to put into the lake', async () => {
  await mkdir(location, { recursive: true });
  const pipe = join(location, 'pipe');
  execFileSync('mkfifo', [pipe]);
  await expect(lake.putFile('iceberg/ours', pipe)).rejects.toThrow(/pipe is no file/);
});

test.skipIf(process.platform !== 'linux')(
  'a file that grows after its size was checked is read only one byte beyond that size',
  async () => {
    await putFile(file.path, 'ours');
    const used = await lake.withFile(file, async (localPath) => {
      await truncate(localPath, 4 * 2 ** 30);
      const before = await bytesReadHere();
      const sha256 = await sha256OfFile(localPath, file.bytes);
      return { sha256, read: (await bytesReadHere()) - before };
    });
    if (used.problem !== undefined) throw new Error(used.problem);
    expect(used.result.sha256).toBe(sha256Of('ours\0'));
    expect(used.result.read).toBeLessThan(100_000_000);
  },
);

test('a cleanup removes nothing behind a link in the place of a folder of marts or snapshots', async () => {
  const victim = await mkdtemp(join(tmpdir(), 'daybook-victim-'));
  onTestFinished(() => rm(victim, { recursive: true }));
  const id = '20260101T000000Z-abcdef';
  for (const name of [id, `.tmp-${id}`]) await writeFile(join(victim, name), 'ours');
  await mkdir(join(location, 'marts', id), { recursive: true });
  await symlink(victim, join(location, 'marts', id, 'bills'));
  await symlink(victim, join(location, 'snapshots'));
  for (const of of ['marts', 'snapshots'] as const) await lake.removeLeftovers(of);
  await rm(join(location, 'marts'), { recursive: true });
  await symlink(victim, join(location, 'marts'));
  for (const of of ['marts', 'snapshots'] as const) await lake.removeLeftovers(of);
  expect((await readdir(victim)).sort()).toEqual([`.tmp-${id}`, id]);
});

test('marts are neither written nor removed through a link in the place of any folder above them', async () => {
  const victim = await mkdtemp(join(tmpdir(), 'daybook-victim-'));
  onTestFinished(() => rm(victim, { recursive: true }));
  const id = '20260101T000000Z-abcdef';
  const path = `marts/${id}/bills/part-00001.parquet`;
  const ours = join(victim, 'ours');
  await mkdir(location, { recursive: true });
  await writeFile(ours, 'ours');
  for (const link of ['marts', `marts/${id}`, `marts/${id}/bills`]) {
    const behind = join(victim, relative(link, path));
    await mkdir(dirname(behind), { recursive: true });
    await writeFile(behind, 'theirs');
    await mkdir(dirname(join(location, link)), { recursive: true });
    await symlink(victim, join(location, link));
    await lake.removeFile(path);
    await expect(lake.putFile(path, ours)).rejects.toThrow(
      `Cannot use the lake ${location}: ${link} is a link, and nothing is written through one.`,
    );
    await lake.removeSnapshot(id);
    expect(await readFile(behind, 'utf8')).toBe('theirs');
    await rm(join(location, 'marts'), { recursive: true });
    await rm(behind);
  }
});

test('a removal fails if Daybook cannot see whether the snapshot exists', async () => {
  await mkdir(location, { recursive: true });
  const loop = join(location, 'loop');
  await symlink(loop, loop);
  const unseen = await openLake({ location: loop, scratch: location });
  await expect(unseen.removeSnapshot('20260101T000000Z-abcdef')).rejects.toThrow('ELOOP');
});

test('a snapshot is neither published nor removed through a link in the place of the snapshots folder', async () => {
  const victim = await mkdtemp(join(tmpdir(), 'daybook-victim-'));
  onTestFinished(() => rm(victim, { recursive: true }));
  const id = '20260101T000000Z-abcdef';
  await mkdir(join(victim, id));
  await mkdir(join(victim, `.tmp-${id}`));
  await writeFile(join(victim, `.tmp-${id}`, '_manifest.json'), '{}');
  await mkdir(location, { recursive: true });
  await symlink(victim, join(location, 'snapshots'));
  await lake.removeSnapshot(id);
  await expect(lake.publish(id, { written: new Map(), kept: [] })).rejects.toThrow(
    /Cannot use the lake .*: snapshots is a link/,
  );
  expect(() => lake.draftFolder(id)).toThrow(/Cannot use the lake .*: snapshots is a link/);
  expect((await readdir(victim)).sort()).toEqual([`.tmp-${id}`, id]);
  expect(await readdir(join(victim, `.tmp-${id}`))).toEqual(['_manifest.json']);
});

/** On Linux a link that replaces a folder is never followed. */
const isLinux = process.platform === 'linux';
const oldId = '20260101T000000Z-abcdef';

test.skipIf(!isLinux)(
  'a snapshot of which nobody can see whether it is complete is not passed over',
  async () => {
    const made = join(location, 'made');
    await mkdir(join(made, oldId), { recursive: true });
    await writeFile(join(made, oldId, '_SUCCESS'), '');
    // So long that no path leads to its files.
    let deep = join(location, 'deep');
    while (deep.length < 3_830) deep = join(deep, 'x'.repeat(200));
    deep = join(deep, 'x'.repeat(4_080 - deep.length - 1));
    await mkdir(deep, { recursive: true });
    renameSync(made, join(deep, 'snapshots'));
    const unseen = await openLake({ location: deep, scratch: location });
    await expect(unseen.snapshotIds()).rejects.toThrow('ENAMETOOLONG');
    await expect(unseen.filesIn(`snapshots/${oldId}`)).rejects.toThrow('ENAMETOOLONG');
    renameSync(join(deep, 'snapshots'), made);
  },
);

test('a link that leads to a name too long is no snapshot, and is removed in the place of marts', async () => {
  const target = 'x'.repeat(256);
  const folder = join(location, 'misled');
  const misled = await openLake({ location: folder, scratch: location });
  const [asSnapshot, withLink] = ['20260102T000000Z-abcdef', '20260103T000000Z-abcdef'];
  await mkdir(join(folder, 'snapshots', withLink), { recursive: true });
  await mkdir(join(folder, 'snapshots', oldId));
  await writeFile(join(folder, 'snapshots', oldId, '_SUCCESS'), '');
  await symlink(target, join(folder, 'snapshots', asSnapshot));
  await symlink(target, join(folder, 'snapshots', withLink, '_SUCCESS'));
  expect(await misled.snapshotIds()).toEqual([oldId]);
  await mkdir(join(folder, 'marts'));
  await symlink(target, join(folder, 'marts', oldId));
  await misled.removeSnapshot(oldId);
  expect(await misled.snapshotIds()).toEqual([]);
  expect(await readdir(join(folder, 'marts'))).toEqual([]);
});

test.skipIf(!isLinux).each<[string, string, () => Promise<void>]>([
  [`marts/${oldId}`, 'marts', () => lake.removeLeftovers('marts')],
  [`marts/${oldId}`, `marts/${oldId}`, () => lake.removeLeftovers('marts')],
  [`marts/${oldId}`, `marts/${oldId}/bills`, () => lake.removeLeftovers('marts')],
  [`marts/${oldId}`, 'marts', () => lake.removeFolder('marts')],
  [`marts/${oldId}`, `marts/${oldId}/bills`, () => lake.removeFolder('marts')],
  [`marts/${oldId}`, `marts/${draftOf(`gone-${oldId}`)}`, () => lake.removeSnapshot(oldId)],
  [`snapshots/.tmp-${oldId}`, 'snapshots', () => lake.removeLeftovers('snapshots')],
  [`snapshots/.tmp-${oldId}`, `snapshots/.tmp-${oldId}/bills`, () => lake.removeLeftovers('snapshots')],
  [`snapshots/${oldId}`, `snapshots/${draftOf(`gone-${oldId}`)}/bills`, () => lake.removeSnapshot(oldId)],
])(
  '%s is removed, but nothing behind a link that replaces %s after a listing',
  async (folder, exchanged, remove) => {
    for (const name of ['key', 'bills/part-00000.parquet', 'bills/deep/file'])
      await putFile(join(folder, name), '');
    const { place, aside, behind, exchange } = await exchangeForLink(exchanged);
    let before: string[] = [];
    onceDone('readdir', place, () => {
      exchange();
      before = namesBelow(behind);
    });
    await remove();
    expect(before).not.toEqual([]);
    expect(namesBelow(behind)).toEqual(before);
    expect(namesBelow(aside)).toEqual([]);
  },
);

test.skipIf(!isLinux)(
  'a mart is not written behind a link that replaces its folder during the write',
  async () => {
    const path = `marts/${oldId}/bills`;
    await putFile(join(path, 'part-00000.parquet'), 'before');
    await putFile('ours', 'ours');
    const { aside, behind, exchange } = await exchangeForLink(path);
    onceDone('open', join(location, 'ours'), exchange);
    await lake.putFile(join(path, 'part-00000.parquet'), join(location, 'ours'));
    expect(await readFile(join(behind, 'part-00000.parquet'), 'utf8')).toBe('before');
    expect(await readFile(join(aside, 'part-00000.parquet'), 'utf8')).toBe('ours');
  },
);

test.skipIf(!isLinux).each(['snapshots', `snapshots/${draftOf(oldId)}`])(
  'a draft is not written behind a link that replaces %s during the write',
  async (exchanged) => {
    await mkdir(join(location, 'snapshots'), { recursive: true });
    const { behind, exchange } = await exchangeForLink(exchanged);
    await lake.withDraft(oldId, async (draft) => {
      exchange();
      await mkdir(join(draft, 'bills'));
      await writeFile(join(draft, 'bills/part-00000.parquet'), 'ours');
      expect(namesBelow(behind).filter((name) => name.endsWith('.parquet'))).toEqual([]);
    });
    expect(existsSync(behind)).toBe(true);
  },
);

test.skipIf(!isLinux || process.getuid?.() !== 0).each<[string, (folder: string) => void]>([
  [
    'of another user',
    (folder) => {
      chownSync(folder, 65_534, 65_534);
    },
  ],
  [
    'in which others may write',
    (folder) => {
      chmodSync(folder, 0o2770);
    },
  ],
])('a draft is refused if its folder was replaced by one %s', async (_, change) => {
  const path = `snapshots/${draftOf(oldId)}`;
  const draft = join(location, path);
  await mkdir(dirname(draft), { recursive: true });
  onceDone('mkdir', draft, () => {
    renameSync(draft, `${draft}.aside`);
    mkdirSync(draft);
    change(draft);
  });
  await expect(lake.withDraft(oldId, () => Promise.resolve())).rejects.toThrow(
    `Cannot use the lake ${location}: somebody else has put a folder in the place of ${path}.`,
  );
});

test('a cleanup of marts removes drafts and marts of missing snapshots, and keeps every other name', async () => {
  for (const name of [oldId, `.tmp-${oldId}`, 'precious', '.ssh', `${oldId}.old`])
    await putFile(join('marts', name, 'bills/file'), '');
  await lake.removeLeftovers('marts');
  expect((await readdir(join(location, 'marts'))).sort()).toEqual(['.ssh', `${oldId}.old`, 'precious']);
});

test('a leftover with hundreds of nested folders does not block a cleanup; the nested folders stay', async () => {
  const leftover = join(location, 'snapshots', `.tmp-${oldId}`);
  await mkdir(join(leftover, 'd/'.repeat(300)), { recursive: true });
  await writeFile(join(leftover, 'key'), '');
  await lake.removeLeftovers('snapshots');
  expect(await readdir(leftover)).toEqual(['d']);
});

test('a lake whose own path is a link can be written to', async () => {
  const real = await mkdtemp(join(tmpdir(), 'daybook-real-'));
  onTestFinished(() => rm(real, { recursive: true }));
  await rm(location, { recursive: true, force: true });
  await symlink(real, location);
  await writeFile(join(real, 'ours'), 'ours');
  await lake.putFile('marts/m/part-00000.parquet', join(real, 'ours'));
  expect(await readFile(join(real, 'marts/m/part-00000.parquet'), 'utf8')).toBe('ours');
});

test('a link planted in a draft redirects no write out of the lake, and the draft is not published', async () => {
  const victim = join(location, '..', `victim-${process.pid}`);
  await writeFile(victim, 'ours');
  onTestFinished(() => rm(victim));
  const id = '20260101T000000Z-abcdef';
  const draft = lake.draftFolder(id);
  await mkdir(draft, { recursive: true });
  await writeFile(join(draft, '_manifest.json'), '{}');
  await symlink(victim, join(draft, '_SUCCESS'));
  await expect(lake.publish(id, { written: new Map(), kept: [] })).rejects.toThrow(/EEXIST/);
  expect(await readFile(victim, 'utf8')).toBe('ours');
  expect(await lake.snapshotIds()).toEqual([]);
});

test('a link planted under the name of a temporary file redirects no write out of the lake', async () => {
  const victim = join(location, '..', `victim-${process.pid}`);
  await writeFile(victim, 'ours');
  onTestFinished(() => rm(victim));
  const id = '20260101T000000Z-abcdef';
  const folder = join(location, 'marts', id);
  await mkdir(folder, { recursive: true });
  await symlink(
    victim,
    join(location, draftOf('latest.json').replace('.tmp-', '.').replace('json-', 'json.')),
  );
  await symlink(victim, join(folder, draftOf('bills.parquet')));
  await lake.replace('latest.json', '{}', undefined);
  await lake.putFile(`marts/${id}/bills.parquet`, pointer);
  expect(await readFile(victim, 'utf8')).toBe('ours');
  for (const file of [pointer, join(folder, 'bills.parquet')])
    expect((await lstat(file)).isFile()).toBe(true);
});

/** The name of a draft of this lake. */
function draftOf(name: string): string {
  return basename(lake.draftFolder(name));
}

function replacePointer(): Promise<boolean> {
  return lake.replace('latest.json', rightPointer, undefined);
}

async function putFile(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(location, path)), { recursive: true });
  await writeFile(join(location, path), text);
}

/** Makes a link to a file outside of the lake. */
async function linkTo(path: string, text: string): Promise<void> {
  const outside = await mkdtemp(join(tmpdir(), 'daybook-outside-'));
  onTestFinished(() => rm(outside, { recursive: true }));
  await writeFile(join(outside, 'file'), text);
  await symlink(join(outside, 'file'), path);
}

/** Prepares to replace a folder of the lake by a link to a folder outside that looks the same. */
async function exchangeForLink(
  path: string,
): Promise<{ place: string; aside: string; behind: string; exchange: () => void }> {
  const outside = await mkdtemp(join(tmpdir(), 'daybook-outside-'));
  onTestFinished(() => rm(outside, { recursive: true }));
  const [place, aside, behind] = [join(location, path), join(outside, 'aside'), join(outside, 'behind')];
  const exchange = (): void => {
    renameSync(place, aside);
    cpSync(aside, behind, { recursive: true });
    symlinkSync(behind, place);
  };
  return { place, aside, behind, exchange };
}

function namesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true }).map(String).sort();
}

/** The number of bytes that this process has read, from any source. */
async function bytesReadHere(): Promise<number> {
  return Number(/rchar: (\d+)/.exec(await readFile('/proc/self/io', 'utf8'))?.[1]);
}

test.skipIf(process.getuid?.() !== 0)(
  'a path that Daybook may not open is reported, and does not stop others from being removed or listed',
  async () => {
    const [id, other] = ['20260101T000000Z-abcdef', '20260102T000000Z-abcdef'];
    for (const name of ['.tmp-a', '.tmp-z', `${other}/bills`, `${id}/bills`, id, other])
      await mkdir(join(location, 'snapshots', name), { recursive: true });
    await mkdir(join(location, 'marts', '.tmp-z'), { recursive: true });
    for (const path of [`${id}/_SUCCESS`, `${id}/_manifest.json`, `${id}/bills/part`, `${other}/bills/part`])
      await writeFile(join(location, 'snapshots', path), 'content');
    await writeFile(pointer, rightPointer);
    giveAll(location);
    // Files as another user leaves them.
    for (const planted of [
      'snapshots/.tmp-x',
      'snapshots/zzz',
      `snapshots/${other}/accounts`,
      'marts/.tmp-x',
      'iceberg',
    ]) {
      mkdirSync(join(location, planted));
      await writeFile(join(location, planted, 'any'), '');
      chmodSync(join(location, planted), 0o700);
    }
    for (const file of [`snapshots/${id}/_manifest.json`, `snapshots/${id}/bills/part`, 'latest.json']) {
      chownSync(join(location, file), 0, 0);
      chmodSync(join(location, file), 0o600);
    }
    await asNobody(async () => {
      for (const of of ['snapshots', 'marts'] as const)
        await expect(lake.removeLeftovers(of)).rejects.toThrow(/did not delete 1 file \(EACCES\)/);
      expect(readdirSync(join(location, 'snapshots')).sort()).toEqual(['.tmp-x', id, other, 'zzz']);
      expect(readdirSync(join(location, 'marts'))).toEqual(['.tmp-x']);
      expect(await lake.filesIn('snapshots')).toEqual(
        expect.arrayContaining([`${id}/bills/part`, `${other}/accounts/`, 'zzz/']),
      );
      expect(await lake.filesIn('iceberg')).toEqual(['/']);
      await expect(readManifest(lake, id)).rejects.toThrow(
        /_manifest\.json of the lake .* may not be read \(EACCES\)/,
      );
      await expect(readPointer(lake)).rejects.toThrow(
        /latest\.json of the lake .* may not be read \(EACCES\)/,
      );
      const file = { path: `snapshots/${id}/bills/part`, bytes: 7 };
      expect(await lake.withFile(file, () => Promise.resolve())).toEqual({ problem: 'may not be read' });
      await expect(lake.removeSnapshot(other)).rejects.toThrow(/did not delete 1 file \(EACCES\)/);
      const gone = join(location, 'snapshots', draftOf(`gone-${other}`));
      expect(readdirSync(gone)).toEqual(['accounts']);
    });
  },
);

test.skipIf(process.getuid?.() !== 0)(
  'a folder that Daybook may not open counts among the files that a manifest does not list',
  async () => {
    const id = '20260101T000000Z-abcdef';
    const closed = join(location, 'snapshots', id, 'bills/old');
    await mkdir(closed, { recursive: true });
    await writeFile(join(closed, 'part-00000.parquet'), 'of an export that ran as root');
    giveAll(location);
    chownSync(closed, 0, 0);
    chmodSync(closed, 0o700);
    await asNobody(async () => {
      expect(await filesBeside(lake, emptyManifest(id, 'ours'))).toEqual(['bills/old/']);
    });
  },
);

function giveAll(folder: string): void {
  execFileSync('chown', ['-R', '65534:65534', folder]);
}

/** Runs work as an unprivileged user, because root may open everything. */
async function asNobody(work: () => Promise<void>): Promise<void> {
  process.seteuid?.(65_534);
  try {
    await work();
  } finally {
    process.seteuid?.(0);
  }
}
