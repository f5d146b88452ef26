import {
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { expect, test } from 'vitest';
import { runExportProcess } from '../../activities/export/run-export-process.ts';
import { openLake } from '../../lake/open-lake.ts';
import { movePointer, readManifest, readPointer } from '../../lake/manifest/pointer.ts';
import { retireSnapshots } from '../../lake/snapshots/retire-snapshots.ts';
import { verifySnapshot } from '../../lake/snapshots/verify-snapshot.ts';
import { bill } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { proofTest, some } from '../support/proof-test.ts';
import { rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { createTestLake } from './create-test-lake.ts';
import { startKillingProxy } from './killing-proxy.ts';
import { startS3Server } from './s3-server.ts';

const { warehouse, url } = await createTestDatabase();
const s3 = await startS3Server();
const { exportNow, jobOf, scratch } = await createTestLake(url, { lake: s3.location });
const lake = await openLake({ location: s3.location, scratch: `${scratch}-of-reader` });
const connection = await addTestConnection(warehouse);
await land(warehouse, { connectionId: connection, stream: 'bills', pages: [[bill('b1'), bill('b2')]] });

test('a snapshot in a bucket is whole, has a _SUCCESS object, and is named by the pointer', async () => {
  const { snapshotId } = await exportNow();
  const keys = await keysIn(`snapshots/${snapshotId}/`);
  expect(keys).toEqual(
    expect.arrayContaining([
      '_SUCCESS',
      '_manifest.json',
      'bills/part-00000.parquet',
      'runs/part-00000.parquet',
    ]),
  );
  expect(await readPointer(lake)).toMatchObject({
    snapshot_id: snapshotId,
    manifest: `snapshots/${snapshotId}/_manifest.json`,
  });
  expect(
    (await verifySnapshot(lake, { id: snapshotId, spillFolder: `${scratch}-of-reader` })).problems,
  ).toEqual([]);
  expect(await exportNow()).toMatchObject({ skipped: true, snapshotId });
});

test('a run removes what its killed attempt uploaded, and publishes its snapshot', async () => {
  await change();
  const job = jobOf();
  const before = await readPointer(lake);
  await put(`snapshots/${job.snapshotId}/bills/part-00000.parquet`, 'half');
  await put(`snapshots/${job.snapshotId}/_manifest.json`, '{}');
  await s3.client.send(
    new CreateMultipartUploadCommand({
      Bucket: s3.bucket,
      Key: `some/prefix/snapshots/${job.snapshotId}/big`,
    }),
  );
  // An unfinished snapshot does not count.
  expect(await lake.snapshotIds()).toEqual([before?.snapshot_id]);
  await exportNow(job);
  expect(await readPointer(lake)).toMatchObject({ snapshot_id: job.snapshotId });
  expect(
    (await verifySnapshot(lake, { id: job.snapshotId, spillFolder: `${scratch}-of-reader` })).problems,
  ).toEqual([]);
  const { Uploads = [] } = await s3.client.send(new ListMultipartUploadsCommand({ Bucket: s3.bucket }));
  expect(Uploads).toEqual([]);
});

test.each(
  some([
    { when: 'before', path: 'latest.json', seen: 'old' },
    { when: 'after', path: 'latest.json', seen: 'new' },
    { when: 'before', path: 'bills/part-00000.parquet', seen: 'old' },
    { when: 'before', path: '_SUCCESS', seen: 'old' },
    { when: 'after', path: '_SUCCESS', seen: 'old' },
  ] as const),
)(
  'an export killed $when $path is written is repaired, and readers see a whole snapshot all the while',
  async ({ when, path, seen }) => {
    const old = await readPointer(lake);
    await change();
    const job = jobOf();
    const killer = new AbortController();
    const proxy = await startKillingProxy(s3.env.AWS_ENDPOINT_URL!, {
      when,
      path,
      kill: () => {
        killer.abort();
      },
    });
    process.env.AWS_ENDPOINT_URL = proxy.address;
    const ended = runExportProcess(job, { signal: killer.signal, onProgress: () => undefined });
    process.env.AWS_ENDPOINT_URL = s3.env.AWS_ENDPOINT_URL;
    await expect(ended).rejects.toThrow(/ended with SIGKILL/);
    proxy.close();
    expect((await readPointer(lake))?.snapshot_id).toBe(seen === 'old' ? old?.snapshot_id : job.snapshotId);
    await isWhole((await readPointer(lake))!.snapshot_id);
    expect(await exportNow(job)).toMatchObject({ snapshotId: job.snapshotId });
    expect(await readPointer(lake)).toMatchObject({ snapshot_id: job.snapshotId });
    await isWhole(job.snapshotId);
  },
);

proofTest(
  'an older snapshot never takes the pointer from a newer one, and a stale replacement of the pointer is refused',
  async () => {
    const older = await readManifest(lake, (await readPointer(lake))?.snapshot_id ?? '');
    await change();
    const newer = await exportNow();
    expect(await movePointer(lake, older!)).toBe(false);
    const found = await lake.read('latest.json');
    await lake.replace('latest.json', found!.text, found);
    const stale = { text: found!.text, version: '"00000000000000000000000000000000"' };
    expect(await lake.replace('latest.json', '{}', stale)).toBe(false);
    expect(await lake.replace('latest.json', '{}', undefined)).toBe(false);
    expect(await readPointer(lake)).toMatchObject({ snapshot_id: newer.snapshotId });
  },
);

test('retention removes snapshots that no rule keeps, but never the one that the pointer names', async () => {
  const ids = await lake.snapshotIds();
  expect(ids.length).toBeGreaterThan(2);
  const rule = { last: 1, daily: 0, monthEnds: false };
  const now = Date.now();
  const { warehouseId } = jobOf();
  expect(await retireSnapshots(lake, { rule, warehouseId, now: new Date(now) })).toEqual({ removed: [] });
  const { removed } = await retireSnapshots(lake, { rule, warehouseId, now: new Date(now + 7 * 3_600_000) });
  expect(removed).toEqual(ids.slice(0, -1));
  expect(await lake.snapshotIds()).toEqual(ids.slice(-1));
  expect(await keysIn('snapshots/')).toSatisfy((keys: string[]) =>
    keys.every((key) => key.startsWith(ids.at(-1)!)),
  );
});

test('an export to a missing bucket says so', async () => {
  const missing = { lake: 's3://no-such-bucket/x' };
  await expect(exportNow(missing)).rejects.toThrow(
    'Cannot use the lake s3://no-such-bucket/x: NoSuchBucket. Check DAYBOOK_LAKE',
  );
});

async function isWhole(id: string): Promise<void> {
  expect((await verifySnapshot(lake, { id, spillFolder: `${scratch}-of-reader` })).problems).toEqual([]);
}

async function change(): Promise<void> {
  await rows(warehouse, `update finance.bills set memo = coalesce(memo, '') || '!' where id = 'b1'`);
}

async function put(path: string, body: string): Promise<void> {
  await s3.client.send(new PutObjectCommand({ Bucket: s3.bucket, Key: `some/prefix/${path}`, Body: body }));
}

async function keysIn(path: string): Promise<string[]> {
  const prefix = `some/prefix/${path}`;
  const { Contents = [] } = await s3.client.send(
    new ListObjectsV2Command({ Bucket: s3.bucket, Prefix: prefix }),
  );
  return Contents.map(({ Key = '' }) => Key.slice(prefix.length));
}
