import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { DeleteObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openBucket } from '../../lake/storage/bucket.ts';
import { openDuckDb } from '../../lake/parquet/duck-db.ts';
import { eraseFromSnapshots } from '../../lake/snapshots/erase-from-snapshots.ts';
import { openLake } from '../../lake/open-lake.ts';
import { readManifest, readPointer } from '../../lake/manifest/pointer.ts';
import { retireSnapshots } from '../../lake/snapshots/retire-snapshots.ts';
import { openS3Lake } from '../../lake/storage/s3-lake.ts';
import { verifySnapshot } from '../../lake/snapshots/verify-snapshot.ts';
import { localSnapshot } from '../../marts/local-snapshot.ts';
import { publishOnLake } from '../../marts/publish-on-lake.ts';
import { bill } from '../support/finance-records.ts';
import { runDaybook } from '../support/daybook-process.ts';
import { land } from '../support/land.ts';
import { proofTest, some } from '../support/proof-test.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { createTestLake, testWarehouseId as warehouseId } from './create-test-lake.ts';
import hostileManifests from './hostile-manifests.json' with { type: 'json' };
import { startRefusingProxy } from './refusing-proxy.ts';
import { startS3Server } from './s3-server.ts';

const { warehouse, url } = await createTestDatabase();
const s3 = await startS3Server();
const { exportNow } = await createTestLake(url, { lake: s3.location });
const folder = await mkdtemp(join(tmpdir(), 'daybook-hostile-'));
afterAll(() => rm(folder, { recursive: true, force: true }));
const scratch = join(folder, 'home', 'scratch');
const lake = await openLake({ location: s3.location, scratch });
let id: string;
let whole: string;
let parquet: Buffer;

beforeAll(async () => {
  const connectionId = await addTestConnection(warehouse);
  await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('b1')]] });
  id = (await exportNow()).snapshotId;
  whole = (await lake.read(`snapshots/${id}/_manifest.json`))?.text ?? '';
  const path = `snapshots/${id}/bills/part-00000.parquet`;
  const bytes = (JSON.parse(whole) as Tables).tables.bills!.files[0]!.bytes;
  const used = await lake.withFile({ path, bytes }, (local) => readFile(local));
  if (used.problem !== undefined) throw new Error(used.problem);
  parquet = used.result;
});

beforeEach(async () => {
  await rm(folder, { recursive: true, force: true });
  await mkdir(scratch, { recursive: true });
  await writeFile(join(folder, 'ours.txt'), 'ours');
  await putManifest(whole);
});

test('an intact manifest is accepted', async () => {
  expect(await localSnapshot(lake, scratch)).toMatchObject({ id });
  expect((await verifySnapshot(lake, { id, spillFolder: scratch })).problems).toEqual([]);
});

test('a file that no manifest lists is reported, and the marts are not built on it', async () => {
  const unlisted = 'bills/part-00001.parquet';
  await put(`snapshots/${id}/${unlisted}`, parquet);
  expect((await verifySnapshot(lake, { id, spillFolder: scratch })).problems).toEqual([
    `${unlisted} is not in the manifest`,
  ]);
  expect(await readdir(join((await localSnapshot(lake, scratch)).folder, 'bills'))).toEqual([
    'part-00000.parquet',
  ]);
  await lake.removeFile(`snapshots/${id}/${unlisted}`);
});

test('keys that XML cannot express block neither an export nor the removal of leftovers beside them', async () => {
  const left = `snapshots/20200101T000000Z-aaaaaa`;
  const unsayable = [`${left}/\u0001`, `${left}/\ufffe`, `${left}/\ufffd`, 'snapshots/\u0002/a'];
  const others = [`${left}/a+b c%2e&<é`, `${left}/bills/part-00000.parquet`];
  for (const key of [...unsayable, ...others]) await put(key, 'left');
  const made = await exportNow({ force: true });
  expect(made).not.toHaveProperty('removalProblem');
  expect(await lake.snapshotIds()).toContain(made.snapshotId);
  // Some servers list each of them like the third.
  const listed = (key: string): string => key.replaceAll(/\p{C}/gu, '\ufffd');
  const kept = (await keysIn('snapshots/')).filter((key) => !key.startsWith('20261121T'));
  expect(kept.map(listed).sort()).toEqual(
    unsayable.map((key) => listed(key.slice('snapshots/'.length))).sort(),
  );
  await lake.removeSnapshot(made.snapshotId);
  for (const key of unsayable) await remove(key);
});

test('a folder with a name that Daybook never uses is kept; leftovers beside it are removed', async () => {
  const theirs = ['snapshots/notes/readme.txt', 'marts/mine/x.txt'];
  const left = ['snapshots/20200101T000000Z-cccccc/bills/x', 'marts/20200101T000000Z-cccccc/bills/x'];
  for (const key of [...theirs, ...left]) await put(key, 'x');
  for (const of of ['snapshots', 'marts'] as const) await lake.removeLeftovers(of);
  const there = [...(await keysIn('snapshots/')), ...(await keysIn('marts/'))];
  expect(there).toEqual(expect.arrayContaining(['notes/readme.txt', 'mine/x.txt']));
  expect(there).not.toContain('20200101T000000Z-cccccc/bills/x');
  for (const key of theirs) await remove(key);
});

test('objects beyond the listing limit block neither erasures nor the removal of leftovers and snapshots', async () => {
  const bucket = openBucket(s3.location, { mostPaths: 20 });
  const bounded = openS3Lake({ location: s3.location, scratch, bucket });
  const left = '20200101T000000Z-dddddd';
  const complete = await lake.snapshotIds();
  await putMany(`snapshots/${left}/x`);
  await putMany(`snapshots/${left}/_begun-`);
  await putMany('snapshots/a', '/x');
  await expect(bounded.filesIn(`snapshots/${left}`)).rejects.toThrow(
    `it lists more files below snapshots/${left}/ than Daybook writes.`,
  );
  expect(await bounded.snapshotIds()).toEqual(complete);
  expect(await bounded.isThere(`snapshots/${left}`)).toBe(true);
  await bounded.removeLeftovers('snapshots');
  expect(await keysIn(`snapshots/${left}/`)).toEqual([]);
  for (const at of many) await remove(`snapshots/a${at}/x`);
  const duckDb = await openDuckDb({ spillFolder: scratch });
  const rows = { warehouseId, connectionId: 'c', id: 'b1', columns: { bills: 'id' } };
  const told: Error[] = [];
  const onUnread = (problem: Error): number => told.push(problem);
  const erase = (): Promise<unknown> => eraseFromSnapshots(bounded, duckDb, rows, { onUnread });
  await putMany(`snapshots/${id}/x`);
  expect(await erase()).toEqual([]);
  expect(told).toEqual([]);
  await putMany(`snapshots/${id}/bills/x`, '.parquet');
  expect(await erase()).toEqual([]);
  expect(told.map(({ message }) => message)).toEqual([
    expect.stringContaining(
      `snapshots/${id} of the lake ${s3.location} has Parquet files that its manifest does not list (more than can be listed).`,
    ),
  ]);
  duckDb.close();
  expect((await verifySnapshot(bounded, { id, spillFolder: scratch })).problems).toEqual([
    'more files are not in the manifest than can be listed',
  ]);
  for (const at of many)
    for (const path of [`x${at}`, `bills/x${at}.parquet`]) await remove(`snapshots/${id}/${path}`);
  const { snapshotId: goes } = await exportNow({ force: true });
  await putMany(`snapshots/${goes}/_SUCCESS`);
  await putMany(`marts/${goes}/x`);
  await bounded.removeSnapshot(goes);
  for (const of of ['snapshots', 'marts']) expect(await keysIn(`${of}/${goes}/`)).toEqual([]);
  await bounded.close();
});

test('an export reports objects that the bucket does not delete, and still publishes; removing a snapshot fails', async () => {
  const left = 'snapshots/20200101T000000Z-bbbbbb/bills/part-00000.parquet';
  await put(left, 'left');
  const proxy = await startRefusingProxy(s3.env.AWS_ENDPOINT_URL!, 'AccessDenied');
  const made = await proxy.use(() => exportNow({ force: true }));
  expect(made).toMatchObject({
    skipped: false,
    removalProblem: expect.stringContaining('did not delete 1 file (AccessDenied)') as string,
  });
  expect((await readPointer(lake))?.snapshot_id).toBe(made.snapshotId);
  await proxy.use(async () => {
    const refusing = await openLake({ location: s3.location, scratch });
    await expect(refusing.removeSnapshot(made.snapshotId)).rejects.toThrow(
      'so their content is still there. Permit Daybook to delete objects there (s3:DeleteObject)',
    );
    await refusing.close();
  });
  await lake.removeSnapshot(made.snapshotId);
  await lake.removeFile(left);
});

test('a manifest path that leads out of its snapshot is refused, and writes nothing outside of the cache', async () => {
  const path = '../../../../written.parquet';
  const object = new URL(`file:///snapshots/${id}/${path}`).pathname.slice(1);
  for (const key of [object, `snapshots/${id}/${path}`]) await put(key, parquet);
  await putManifest(changed((manifest) => (manifest.tables.bills!.files[0]!.path = path)));
  await isRefusedEverywhere();
});

test('a pointer whose snapshot_id is malformed is refused, and no file outside of the cache is touched', async () => {
  for (const hostile of [
    `x'); drop table t; --`,
    '../../outside',
    `${id}/..`,
    `${id}\n`,
    `${id.slice(0, -6)}ABCDEF`,
  ]) {
    await put(
      'latest.json',
      JSON.stringify({
        snapshot_id: hostile,
        manifest: `snapshots/${id}/_manifest.json`,
        manifest_sha256: sha256(whole),
      }),
    );
    await expect(readPointer(lake)).rejects.toThrow(/latest\.json of the lake .* is not what Daybook wrote/);
    await expect(localSnapshot(lake, scratch)).rejects.toThrow(/is not what Daybook wrote/);
    await expect(
      retireSnapshots(lake, { rule, warehouseId: 'the-warehouse', now: new Date() }),
    ).rejects.toThrow(/is not what Daybook/);
    await leftAlone();
  }
});

test('a pointer to a manifest in another place or of another snapshot is refused', async () => {
  await put('elsewhere.json', whole);
  const other = '20200101T000000Z-abcdef';
  await put(`snapshots/${other}/_manifest.json`, whole);
  for (const [snapshot_id, manifest] of [
    [id, 'elsewhere.json'],
    [id, `snapshots/${other}/_manifest.json`],
    [other, `snapshots/${other}/_manifest.json`],
  ]) {
    await put('latest.json', JSON.stringify({ snapshot_id, manifest, manifest_sha256: sha256(whole) }));
    await expect(localSnapshot(lake, scratch)).rejects.toThrow(/is not what Daybook wrote/);
  }
});

test('a publication of marts refuses a latest-marts.json that names files outside of the marts', async () => {
  const database = join(folder, 'built.duckdb');
  const duckDb = await openDuckDb({ spillFolder: scratch });
  const connection = await duckDb.connect();
  await connection.run(
    `attach '${database}' as b; create schema b.marts; create table b.marts.bills as select 1 as x`,
  );
  connection.closeSync();
  duckDb.close();
  const file = { rows: 1, bytes: 1, sha256: sha256('') };
  for (const path of ['latest.json', `snapshots/${id}/bills/part-00001.parquet`, '../part-00000.parquet']) {
    const marts = { bills: { path, ...file } };
    await put('latest-marts.json', JSON.stringify({ snapshot_id: id, as_of_date: '2026-01-01', marts }));
    await expect(
      publishOnLake(lake, {
        database,
        snapshotId: id,
        takenAt: '2026-11-21T12:00:00.000001Z',
        asOfDate: '2026-01-01',
        scratch,
      }),
    ).rejects.toThrow(/latest-marts\.json of the lake .* is not what Daybook wrote/);
    expect(await lake.read('latest.json')).toBeDefined();
  }
  await lake.removeFile('latest-marts.json');
});

proofTest('a pointer of 300 MB is refused without being loaded into memory', async () => {
  const upload = new Upload({
    client: s3.client,
    params: { Bucket: s3.bucket, Key: 'some/prefix/latest.json', Body: Readable.from(zeros(300)) },
  });
  await upload.done();
  const before = process.memoryUsage().rss;
  await expect(readPointer(lake)).rejects.toThrow(/is not what Daybook wrote/);
  expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
  await lake.removeFile('latest.json');
});

function* zeros(megabytes: number): Generator<Buffer> {
  for (let at = 0; at < megabytes; at++) yield Buffer.alloc(1_048_576);
}

test('snapshots verify prints no text that a hostile manifest contains', async () => {
  const words = '\u001b]0;planted\u0007';
  await putManifest(
    changed((manifest) => {
      manifest.tables[words] = manifest.tables.bills!;
    }),
  );
  const { code, stdout, stderr } = await runDaybook(['snapshots', 'verify'], {
    cwd: folder,
    env: { ...s3.env, DAYBOOK_LAKE: s3.location },
  });
  expect(code).toBe(1);
  expect(stdout + stderr).toContain('is not what Daybook wrote');
  expect(stdout + stderr).not.toContain('planted');
  expect(stdout + stderr).not.toContain('\u001b');
});

test('a path typed as a snapshot ID is refused', async () => {
  const { code, stderr } = await runDaybook(['snapshots', 'verify', '../../x'], {
    cwd: folder,
    env: { DAYBOOK_LAKE: folder },
  });
  expect(code).toBe(2);
  expect(stderr).toContain('is not a snapshot ID');
});

test.each(some(hostileManifests))('a known hostile manifest is refused: $name', async ({ path, value }) => {
  await putManifest(
    changed((manifest) => {
      set(manifest, path, value);
    }),
  );
  await isRefusedEverywhere();
});

proofTest(
  'an arbitrary value anywhere in a manifest touches no file outside of the cache, and every error is a sentence',
  async () => {
    const places = placesIn(JSON.parse(whole) as Json);
    const hostile = fc.oneof(
      fc.constantFrom(
        '../../x',
        '/etc/passwd',
        `'; drop table x; --`,
        '__proto__',
        'constructor',
        '\u0000',
        '',
      ),
      fc.constantFrom(-1, 1.5, 1e308, null, true),
      fc.string({ unit: 'binary' }),
      fc.json().map((text) => JSON.parse(text) as Json),
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...places), hostile, async (place, value) => {
        await putManifest(
          changed((manifest) => {
            set(manifest, place, value);
          }),
        );
        await localSnapshot(lake, join(scratch, 'cache')).catch(isSentence);
        await verifySnapshot(lake, { id, spillFolder: scratch }).catch(isSentence);
        await leftAlone();
      }),
      { numRuns: 60 },
    );
  },
);

const rule = { last: 1, daily: 0, monthEnds: false };

async function isRefusedEverywhere(): Promise<void> {
  const altered = /is not what Daybook wrote/;
  await expect(localSnapshot(lake, scratch)).rejects.toThrow(altered);
  await expect(readManifest(lake, id)).rejects.toThrow(altered);
  expect((await verifySnapshot(lake, { id, spillFolder: scratch })).problems).toEqual([
    expect.stringMatching(altered),
  ]);
  const duckDb = await openDuckDb({ spillFolder: scratch });
  const rows = { warehouseId, connectionId: 'c', id: 'b1', columns: { bills: 'id' } };
  await expect(eraseFromSnapshots(lake, duckDb, rows)).rejects.toThrow(altered);
  duckDb.close();
  // An export uses nothing of it either: it makes a complete snapshot.
  const made = await exportNow();
  expect(made).toMatchObject({ skipped: false });
  expect((await verifySnapshot(lake, { id: made.snapshotId, spillFolder: scratch })).problems).toEqual([]);
  await lake.removeSnapshot(made.snapshotId);
  await leftAlone();
}

/** Checks that nothing beside the scratch folder has changed. */
async function leftAlone(): Promise<void> {
  expect((await readdir(folder)).filter((name) => !name.startsWith('built'))).toEqual(['home', 'ours.txt']);
  expect(await readdir(join(folder, 'home'))).toEqual(['scratch']);
  expect(await readFile(join(folder, 'ours.txt'), 'utf8')).toBe('ours');
}

function isSentence(error: unknown): void {
  expect(error).toBeInstanceOf(Error);
  expect((error as { handling?: string }).handling).toBe('stop');
  expect((error as Error).message).toMatch(/^[\x20-\x7e]+$/);
}

interface Tables {
  tables: Record<string, { files: { path: string; bytes: number; rows: number; sha256: string }[] }>;
}

function changed(change: (manifest: Tables) => void): string {
  const manifest = JSON.parse(whole) as Tables;
  change(manifest);
  return JSON.stringify(manifest);
}

async function putManifest(text: string): Promise<void> {
  const manifest = `snapshots/${id}/_manifest.json`;
  await put(manifest, text);
  // Anyone who can write the manifest can write the pointer too.
  await put('latest.json', JSON.stringify({ snapshot_id: id, manifest, manifest_sha256: sha256(text) }));
}

async function put(path: string, body: string | Buffer): Promise<void> {
  await s3.client.send(new PutObjectCommand({ Bucket: s3.bucket, Key: `some/prefix/${path}`, Body: body }));
}

const many = Array.from({ length: 25 }, (_, at) => at);

async function putMany(start: string, end = ''): Promise<void> {
  await Promise.all(many.map((at) => put(`${start}${at}${end}`, 'x')));
}

async function remove(path: string): Promise<void> {
  await s3.client.send(new DeleteObjectCommand({ Bucket: s3.bucket, Key: `some/prefix/${path}` }));
}

async function keysIn(path: string): Promise<string[]> {
  const prefix = `some/prefix/${path}`;
  const listed = await s3.client.send(
    new ListObjectsV2Command({ Bucket: s3.bucket, Prefix: prefix, EncodingType: 'url' }),
  );
  const keys = (listed.Contents ?? []).map(({ Key = '' }) => decodeURIComponent(Key.replaceAll('+', ' ')));
  return keys.map((key) => key.slice(prefix.length)).sort();
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

/** The paths to every value, for one table only, because the others are alike. */
function placesIn(value: Json, at: readonly string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [[...at]];
  return Object.entries(value)
    .filter(([name]) => at.length !== 1 || at[0] !== 'tables' || name === 'bills')
    .flatMap(([name, inner]) => [[...at, name], ...placesIn(inner, [...at, name])]);
}

function set(root: object, path: readonly string[], value: unknown): void {
  const [last = ''] = path.slice(-1);
  const holder = path
    .slice(0, -1)
    .reduce<unknown>((one, name) => (one as Record<string, unknown>)[name], root);
  Object.defineProperty(holder, last, { value, enumerable: true, configurable: true, writable: true });
}
