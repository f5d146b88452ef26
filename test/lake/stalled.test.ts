import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import { expect, onTestFinished, test } from 'vitest';
import { openDuckDb, quoted } from '../../lake/parquet/duck-db.ts';
import { eraseFromSnapshots } from '../../lake/snapshots/erase-from-snapshots.ts';
import type { AssertHeld, Lake } from '../../lake/lake.ts';
import { openLake } from '../../lake/open-lake.ts';
import { openBucket } from '../../lake/storage/bucket.ts';
import { openS3Lake } from '../../lake/storage/s3-lake.ts';
import { movePointer, readManifest, readPointer } from '../../lake/manifest/pointer.ts';
import { verifySnapshot } from '../../lake/snapshots/verify-snapshot.ts';
import { publishOnLake, readMartsPointer } from '../../marts/publish-on-lake.ts';
import { bill } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { loseLock } from '../support/lose-lock.ts';
import { rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { startAnsweringProxy } from './answering-proxy.ts';
import { createTestLake, testWarehouseId as warehouseId } from './create-test-lake.ts';
import { startHoldingProxy } from './holding-proxy.ts';
import { pass, startS3Proxy } from './s3-proxy.ts';
import { startS3Server } from './s3-server.ts';

const { warehouse, url } = await createTestDatabase();
const s3 = await startS3Server();
const { exportNow, jobOf, scratch } = await createTestLake(url, { lake: s3.location });
const reader = await openLake({ location: s3.location, scratch: scratchOf('reader') });
const connectionId = await addTestConnection(warehouse);
const erasure = {
  warehouseId,
  connectionId,
  id: 'to-erase',
  columns: { bills: 'id', bill_lines: 'bill_id' },
};

test.each([
  ['stands still before its first file', '.*[.]parquet'],
  ['has sent its last request', '_SUCCESS'],
])(
  'an export that %s while a record is erased completes no snapshot; its retry has only the current rows',
  async (_, path) => {
    await landRecord();
    const job = jobOf({ scratch: `${scratch}-stalled` });
    const proxy = await holding(new RegExp(`/snapshots/${job.snapshotId}/${path}$`));
    const stalled = proxy.use(() => exportNow(job)).catch((error: unknown) => error);
    await proxy.holds;
    // As a failover or a restart of Postgres does.
    await loseLock(warehouse, ['daybook export']);
    await erase();
    proxy.release();
    expect(await stalled).toBeInstanceOf(Error);
    expect(await reader.snapshotIds()).not.toContain(job.snapshotId);
    expect((await readPointer(reader))?.snapshot_id).not.toBe(job.snapshotId);
    expect(await exportNow({ ...job, force: true })).toMatchObject({
      snapshotId: job.snapshotId,
      skipped: false,
    });
    const { problems } = await verifySnapshot(reader, {
      id: job.snapshotId,
      spillFolder: scratchOf('reader'),
    });
    expect(problems).toEqual([]);
    expect(await heldIn(job.snapshotId)).toBe(0);
    // Nothing is left of the first attempt.
    const listed = new Set(
      Object.values((await readManifest(reader, job.snapshotId))!.tables).flatMap(({ files }) =>
        files.map((file) => file.path),
      ),
    );
    expect(await keysOf(job.snapshotId)).toEqual([...listed, '_SUCCESS', '_manifest.json'].sort());
  },
);

test('an export that lost the lock neither copies nor removes parts that another attempt may have published', async () => {
  const { snapshotId } = await exportNow({ force: true });
  const [file] = (await readManifest(reader, snapshotId))!.tables.bills!.files;
  const to = { id: '20261122T120000Z-dddddd', paths: [file!.path] };
  const from = { id: snapshotId, files: [file!] };
  await expect(lakeOf(lockLost).keep(from, to)).rejects.toThrow('lost');
  expect(await reader.filesIn(`snapshots/${to.id}`)).toEqual([]);
  // It removes nothing either, because the files at these paths belong to the other attempt.
  expect(await reader.keep(from, to)).toBe(true);
  const damaged = { id: snapshotId, files: [file!, { ...file!, sha256: '0'.repeat(64) }] };
  const both = { ...to, paths: [file!.path, 'bills/part-00001.parquet'] };
  await expect(lakeOf(heldFor(2)).keep(damaged, both)).rejects.toThrow('lost');
  expect(await reader.filesIn(`snapshots/${to.id}`)).toEqual([file!.path]);
  await reader.removeSnapshot(to.id);
});

test('a copy of a kept part never overwrites an object; a file shared with Iceberg may', async () => {
  const { snapshotId } = await exportNow({ force: true });
  const [file] = (await readManifest(reader, snapshotId))!.tables.bills!.files;
  const copies: unknown[] = [];
  const proxy = await startS3Proxy(s3.env.AWS_ENDPOINT_URL!, (incoming, outgoing) => {
    const { method, headers, url: path = '' } = incoming;
    if (headers['x-amz-copy-source'] !== undefined) copies.push(headers['if-none-match']);
    incoming.pipe(pass(new URL(path, s3.env.AWS_ENDPOINT_URL), { method, headers }, outgoing));
  });
  const lake = await proxy.use(openStalled);
  const to = { id: '20261122T120000Z-eeeeee', paths: [file!.path] };
  expect(await lake.keep({ id: snapshotId, files: [file!] }, to)).toBe(true);
  const source = { ...file!, path: `snapshots/${snapshotId}/${file!.path}` };
  expect(await lake.share(source, `iceberg/finance/bills/data/${file!.sha256}.parquet`)).toBe(true);
  expect(copies).toEqual(['*', undefined]);
  await reader.removeSnapshot(to.id);
});

test('a part that was copied although the answer was lost is kept; one with other bytes is not', async () => {
  const { snapshotId } = await exportNow({ force: true });
  const [file] = (await readManifest(reader, snapshotId))!.tables.bills!.files;
  const to = { id: '20261122T120000Z-ffffff', paths: [file!.path] };
  const from = { id: snapshotId, files: [file!] };
  const refusing = await startAnsweringProxy(s3.env.AWS_ENDPOINT_URL!, (method) =>
    method === 'PUT' ? { status: 412, body: '<Error><Code>PreconditionFailed</Code></Error>' } : undefined,
  );
  const lake = await refusing.use(openStalled);
  expect(await lake.keep(from, to)).toBe(false);
  expect(await reader.keep(from, to)).toBe(true);
  expect(await lake.keep(from, to)).toBe(true);
  const other = { ...file!, sha256: '0'.repeat(64) };
  expect(await lake.keep({ id: snapshotId, files: [other] }, to)).toBe(false);
  await reader.removeSnapshot(to.id);
});

test('a stalled erasure does not republish a snapshot that another erasure has removed since', async () => {
  await landRecord();
  const { snapshotId } = await exportNow();
  const proxy = await holding(/_SUCCESS$/);
  const lake = await proxy.use(openStalled);
  const stalled = eraseAs(lake, { ...erasure, id: 'stays' }).catch((error: unknown) => error);
  await proxy.holds;
  await erase();
  proxy.release();
  expect(await stalled).toBeInstanceOf(Error);
  const ids = await reader.snapshotIds();
  expect(ids).not.toContain(snapshotId);
  for (const id of ids) expect(await heldIn(id)).toBe(0);
});

test('a process that lost the lock does not move the pointer', async () => {
  const named = await readPointer(reader);
  const newer = (await exportNow({ force: true })).snapshotId;
  const manifest = await readManifest(reader, newer);
  await reader.replace('latest.json', `${JSON.stringify(named)}\n`, await reader.read('latest.json'));
  await expect(movePointer(lakeOf(lockLost), manifest!)).rejects.toThrow('lost');
  expect(await readPointer(reader)).toEqual(named);
  expect(await movePointer(reader, manifest!)).toBe(true);
});

test('a stalled build does not name its marts after others were published', async () => {
  const proxy = await holding(/latest-marts\.json$/);
  const lake = await proxy.use(openStalled);
  const [older, newer] = ['20261121T120000Z-aaaaaa', '20261121T120000Z-bbbbbb'];
  const stalled = publish(lake, 'planted', older).catch((error: unknown) => error);
  await proxy.holds;
  await publish(reader, 'erased', newer);
  proxy.release();
  expect(await stalled).toBeInstanceOf(Error);
  expect((await readMartsPointer(reader)).pointer?.snapshot_id).toBe(newer);
});

test('a build that lost the lock puts no marts into the lake', async () => {
  const id = '20261122T120000Z-cccccc';
  await expect(publish(lakeOf(lockLost), 'planted', id)).rejects.toThrow('lost');
  expect(await reader.filesIn(`marts/${id}`)).toEqual([]);
});

async function landRecord(): Promise<void> {
  await rows(warehouse, `delete from finance.bills where id = 'to-erase'`);
  const pages = [[bill('stays'), bill('to-erase', { memo: `"planted ${Date.now()}"` })]];
  await land(warehouse, { connectionId, stream: 'bills', pages });
}

/** Erases as `daybook erase` does, under the lost lock. */
async function erase(): Promise<void> {
  await rows(warehouse, `delete from finance.bill_lines where bill_id = 'to-erase'`);
  await rows(warehouse, `delete from finance.bills where id = 'to-erase'`);
  await eraseAs(await openAt('erasure'), erasure);
}

async function eraseAs(lake: Lake, record: typeof erasure): Promise<void> {
  const duckDb = await openDuckDb({ spillFolder: scratchOf(record.id) });
  try {
    await lake.removeLeftovers('snapshots');
    const rewritten = await eraseFromSnapshots(lake, duckDb, record);
    for (const { from } of rewritten) await lake.removeSnapshot(from);
  } finally {
    duckDb.close();
    await lake.close();
  }
}

function holding(path: RegExp): ReturnType<typeof startHoldingProxy> {
  return startHoldingProxy(s3.env.AWS_ENDPOINT_URL!, path);
}

/** The client determines the server's address at its first request, so one is made here. */
async function openStalled(): Promise<Lake> {
  const lake = await openAt('stalled');
  await lake.read('latest.json');
  return lake;
}

function openAt(name: string): Promise<Lake> {
  return openLake({ location: s3.location, scratch: scratchOf(name) });
}

/** A lake of a writer with this lock. Its bucket does not check it, so that only the checks of the lake itself count. */
function lakeOf(assertHeld: AssertHeld): Lake {
  const bucket = openBucket(s3.location);
  onTestFinished(() => {
    bucket.close();
  });
  return openS3Lake({ location: s3.location, scratch: scratchOf('reader'), assertHeld, bucket });
}

function scratchOf(name: string): string {
  return `${scratch}-of-${name}`;
}

async function heldIn(id: string): Promise<number> {
  const duckDb = await openDuckDb({ spillFolder: scratchOf('reader') });
  const connection = await duckDb.connect();
  let count = 0;
  for (const { path, bytes } of (await readManifest(reader, id))!.tables.bills!.files)
    await reader.withFile({ path: `snapshots/${id}/${path}`, bytes }, async (local) => {
      const answer = await connection.runAndReadAll(
        `select count(*) from read_parquet(${quoted(local)}) where id = 'to-erase'`,
      );
      count += Number(answer.getRows()[0]![0]);
    });
  connection.closeSync();
  duckDb.close();
  return count;
}

async function publish(lake: Lake, content: string, snapshotId: string): Promise<void> {
  const folder = scratchOf(`marts-${snapshotId}`);
  await mkdir(folder, { recursive: true });
  const database = join(folder, 'built.duckdb');
  const duckDb = await openDuckDb({ spillFolder: folder });
  const connection = await duckDb.connect();
  const sql = `create schema b.marts; create table b.marts.bills as select ${quoted(content)} as x`;
  await connection.run(`attach ${quoted(database)} as b; ${sql}`);
  connection.closeSync();
  duckDb.close();
  const built = { database, snapshotId, takenAt: '2026-11-21T12:00:00.000001Z', asOfDate: '2026-11-21' };
  await publishOnLake(lake, { ...built, scratch: folder });
}

/** A lock that is held for so many checks, and lost from then on. */
function heldFor(times: number): AssertHeld {
  let left = times;
  return () => {
    left -= 1;
    return left >= 0 ? Promise.resolve() : lockLost();
  };
}

function lockLost(): Promise<void> {
  return Promise.reject(new Error('lost'));
}

async function keysOf(id: string): Promise<string[]> {
  const prefix = `some/prefix/snapshots/${id}/`;
  const { Contents = [] } = await s3.client.send(
    new ListObjectsV2Command({ Bucket: s3.bucket, Prefix: prefix }),
  );
  return Contents.map(({ Key = '' }) => Key.slice(prefix.length)).sort();
}
