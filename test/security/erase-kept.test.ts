import { ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3';
import { beforeAll, expect, test } from 'vitest';
import { LakeKeeps } from '../../lake/errors.ts';
import { openLake } from '../../lake/open-lake.ts';
import { createTestLake } from '../lake/create-test-lake.ts';
import { startRefusingProxy } from '../lake/refusing-proxy.ts';
import { startS3Server } from '../lake/s3-server.ts';
import { bill } from '../support/finance-records.ts';
import { createInstallation } from '../support/installation.ts';
import { land } from '../support/land.ts';
import { rows } from '../support/rows.ts';

const s3 = await startS3Server();
const { connect, run, warehouse, databaseUrl } = await createInstallation({
  env: { ...s3.env, DAYBOOK_LAKE: s3.location },
  commandsInOneProcess: true,
});
const { exportNow } = await createTestLake(databaseUrl, { lake: s3.location });
const left = '20200101T000000Z-bbbbbb';
let connection: string;

beforeAll(async () => {
  connection = await connect();
  // The source has never had the record, so it may be erased.
  for (const memo of ['"once"', '"twice"']) {
    await land(warehouse, {
      connectionId: connection,
      stream: 'bills',
      pages: [[bill('to-erase', { memo }), bill('stays')]],
    });
    await exportNow({ force: true });
  }
  const Key = `some/prefix/snapshots/${left}/bills/part-00000.parquet`;
  await s3.client.send(new PutObjectCommand({ Bucket: s3.bucket, Key, Body: 'left' }));
});

test('a snapshot that a bucket refuses to delete blocks no other, and the erasure fails and says so', async () => {
  const [locked = '', other = ''] = await snapshots();
  const proxy = await startRefusingProxy(s3.env.AWS_ENDPOINT_URL ?? '', 'AccessDenied', [left, locked]);
  const refused = await erase({ AWS_ENDPOINT_URL: proxy.address });
  expect(refused.stdout).toMatch(new RegExp(`snapshot ${locked}, now \\S+ +2 +2$`, 'm'));
  expect(refused.stdout).toMatch(new RegExp(`snapshot ${other}, now \\S+ +2 +0$`, 'm'));
  expect(refused.stdout.match(/did not delete 1 file \(AccessDenied\)/g)).toHaveLength(2);
  expect(refused.stdout).not.toContain('Erased bills to-erase');
  expect(refused.code).toBe(1);
  expect(await snapshots()).toEqual(expect.arrayContaining([locked, left]));
  expect(await snapshots()).not.toContain(other);
  expect(
    await rows(
      warehouse,
      `select snapshot_id, removed_at is null as is_there from sync.snapshots where snapshot_id in ($1, $2) order by 1`,
      [locked, other],
    ),
  ).toEqual([
    { snapshot_id: locked, is_there: true },
    { snapshot_id: other, is_there: false },
  ]);
  expect(await rows(warehouse, `select status from sync.runs where kind = 'erase'`)).toEqual([
    { status: 'failed' },
  ]);

  const again = await erase();
  expect(again.stdout).toContain('Erased bills to-erase');
  expect(again.code, again.stderr).toBe(0);
  for (const gone of [locked, other, left]) expect(await snapshots()).not.toContain(gone);
});

test.each(['_SUCCESS', 'bills/part-00000.parquet'])(
  "a snapshot's marts are removed even if the bucket refuses to delete its %s",
  async (file) => {
    const id = '20200101T000000Z-cccccc';
    const keys = [`snapshots/${id}/_SUCCESS`, `snapshots/${id}/bills/part-00000.parquet`];
    for (const key of [...keys, `marts/${id}/bills/part-00000.parquet`])
      await s3.client.send(
        new PutObjectCommand({ Bucket: s3.bucket, Key: `some/prefix/${key}`, Body: 'planted' }),
      );
    const proxy = await startRefusingProxy(s3.env.AWS_ENDPOINT_URL ?? '', 'AccessDenied', [
      `snapshots/${id}/${file}`,
    ]);
    await proxy.use(async () => {
      const lake = await openLake({ location: s3.location, scratch: 'unused' });
      await expect(lake.removeSnapshot(id)).rejects.toThrow(LakeKeeps);
      expect(await lake.filesIn(`marts/${id}`)).toEqual([]);
      expect(await lake.filesIn(`snapshots/${id}`)).toContain(file);
      await lake.close();
    });
    const lake = await openLake({ location: s3.location, scratch: 'unused' });
    await lake.removeSnapshot(id);
    await lake.close();
  },
);

function erase(env: Readonly<Record<string, string>> = {}): ReturnType<typeof run> {
  return run(['erase', connection, 'bills', 'to-erase'], { env });
}

/** The snapshots of which any file exists, the oldest of ours first. */
async function snapshots(): Promise<string[]> {
  const Prefix = 'some/prefix/snapshots/';
  const { Contents = [] } = await s3.client.send(new ListObjectsV2Command({ Bucket: s3.bucket, Prefix }));
  const names = new Set(Contents.map(({ Key = '' }) => Key.slice(Prefix.length).split('/')[0] ?? ''));
  return [...names]
    .filter((name) => name !== left)
    .sort()
    .concat([...names].filter((name) => name === left));
}
