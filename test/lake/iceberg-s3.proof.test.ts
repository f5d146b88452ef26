import { ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3';
import { expect, test } from 'vitest';
import { openLake } from '../../lake/open-lake.ts';
import { readManifest } from '../../lake/manifest/pointer.ts';
import { bill } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { createTestLake } from './create-test-lake.ts';
import { icebergReaders, manifestSeen, readIceberg } from './read-iceberg.ts';
import { startS3Server } from './s3-server.ts';
import { cacheFolder } from '../support/cache-folder.ts';

const { warehouse, url } = await createTestDatabase();
const s3 = await startS3Server();
const { exportNow, scratch } = await createTestLake(url, {
  lake: s3.location,
  iceberg: { add: true, cacheFolder },
});
const lake = await openLake({ location: s3.location, scratch: `${scratch}-of-reader` });
await land(warehouse, {
  connectionId: await addTestConnection(warehouse),
  stream: 'bills',
  pages: [[bill('b1', { total_amount: '123456789012345678.123456789' }), bill('b2')]],
});

test('PyIceberg, DuckDB and Spark read from a bucket exactly the rows and sums of the manifests', async () => {
  await exportNow();
  await rows(warehouse, `update finance.bills set memo = 'other' where id = 'b2'`);
  await exportNow();
  const ids = await lake.snapshotIds();
  const manifests = await Promise.all(ids.map((id) => readManifest(lake, id)));
  const expected = Object.fromEntries(ids.map((id, index) => [id, manifestSeen(manifests[index]!)]));
  for (const reader of icebergReaders) {
    const seen = await readIceberg(url, { reader });
    expect(Object.keys(seen).sort()).toEqual(ids);
    expect(seen).toMatchObject(expected);
  }
});

test('an export removes the Iceberg objects that only a removed snapshot needed', async () => {
  const [first, second] = await lake.snapshotIds();
  await lake.removeSnapshot(first!);
  await exportNow();
  const seen = await readIceberg(url, { reader: 'duckdb', tables: ['bills'] });
  expect(Object.keys(seen)).toEqual([second]);
  const files = (await lake.filesIn('iceberg/finance/bills')).filter((path) => path.endsWith('.parquet'));
  const { tables } = (await readManifest(lake, second!))!;
  expect(files).toEqual(tables.bills!.files.map(({ sha256 }) => `data/${sha256}.parquet`));
});

test('keys that belong to no table do not block an export, and are left alone', async () => {
  const keys = ['/x', '/bills/data/', '\u0001/x', '../x', 'bills/data//y', 'bills/data/\u0001'].map(
    (name) => `${new URL(s3.location).pathname.slice(1)}/iceberg/finance/${name}`,
  );
  for (const key of keys)
    // Some servers reject content for a key that names a folder.
    await s3.client.send(
      new PutObjectCommand({ Bucket: s3.bucket, Key: key, Body: key.endsWith('/') ? '' : 'x' }),
    );
  // A server that keeps objects as files stores some of them under another name.
  const put = await Promise.all(keys.map((key) => isInBucket(key)));
  expect(put).toContain(true);
  await rows(warehouse, `update finance.bills set memo = 'another' where id = 'b2'`);
  expect(await exportNow()).not.toHaveProperty('icebergProblem');
  const ids = await lake.snapshotIds();
  expect(Object.keys(await readIceberg(url, { reader: 'duckdb', tables: ['bills'] })).sort()).toEqual(ids);
  expect(await Promise.all(keys.map((key) => isInBucket(key)))).toEqual(put);
});

async function isInBucket(key: string): Promise<boolean> {
  const { KeyCount } = await s3.client.send(new ListObjectsV2Command({ Bucket: s3.bucket, Prefix: key }));
  return KeyCount === 1;
}
