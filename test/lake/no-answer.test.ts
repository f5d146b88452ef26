import { expect, test } from 'vitest';
import type { Lake } from '../../lake/lake.ts';
import { openLake } from '../../lake/open-lake.ts';
import { readManifest } from '../../lake/manifest/pointer.ts';
import { verifySnapshot } from '../../lake/snapshots/verify-snapshot.ts';
import { bill } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { startAnsweringProxy, type Answer } from './answering-proxy.ts';
import { createTestLake } from './create-test-lake.ts';
import { startS3Server } from './s3-server.ts';

const { warehouse, url } = await createTestDatabase();
const s3 = await startS3Server();
const { exportNow, scratch } = await createTestLake(url, { lake: s3.location });
const connectionId = await addTestConnection(warehouse);
await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('b1')]] });
const { snapshotId: id } = await exportNow();
const lake = await openLake({ location: s3.location, scratch: `${scratch}-of-reader` });

const page = '<html>We will be back soon</html>';

test.each([
  ['a page of somebody else', page],
  ['nothing', ''],
])('a listing answered with %s is an error, not an empty bucket', async (_, body) => {
  await through(
    (method, { searchParams }) => (method === 'GET' && searchParams.has('list-type') ? ok(body) : undefined),
    async (asked) => {
      const unreadable = { name: 'LakeUnavailable', handling: 'retry' };
      await expect(asked.snapshotIds()).rejects.toMatchObject(unreadable);
      await expect(asked.removeLeftovers('snapshots')).rejects.toMatchObject(unreadable);
    },
  );
});

test.each([
  ['a page of somebody else', page],
  ['no word of any object', '<DeleteResult></DeleteResult>'],
])('a removal answered with %s has removed nothing, and is reported', async (_, body) => {
  const before = await lake.filesIn(`snapshots/${id}`);
  await through(
    (method, { searchParams }) => (method === 'POST' && searchParams.has('delete') ? ok(body) : undefined),
    async (asked) => {
      const kept = { name: 'LakeKeeps', message: expect.stringContaining('still listed') as string };
      await expect(asked.removeSnapshot(id)).rejects.toMatchObject(kept);
      await expect(asked.removeFile(`snapshots/${id}/_SUCCESS`)).rejects.toMatchObject(kept);
    },
  );
  expect(await lake.filesIn(`snapshots/${id}`)).toEqual(before);
});

test('a write answered with an HTML page is an error, not a success', async () => {
  await through(
    (method) => (method === 'PUT' ? ok(page) : undefined),
    async (asked) => {
      const unreadable = { name: 'LakeUnavailable', handling: 'retry' };
      await expect(asked.replace('latest.json', '{}', undefined)).rejects.toMatchObject(unreadable);
      const [file] = (await readManifest(lake, id))!.tables.bills!.files;
      const shared = asked.share({ ...file!, path: `snapshots/${id}/${file!.path}` }, 'iceberg/a.parquet');
      await expect(shared).rejects.toMatchObject(unreadable);
    },
  );
});

test('a corrupted file in the bucket is named by verify, and an export replaces its snapshot', async () => {
  const damaged = (await exportNow({ force: true })).snapshotId;
  const proxy = await startAnsweringProxy(s3.env.AWS_ENDPOINT_URL!, (method, { pathname }) =>
    method === 'GET' && pathname.endsWith(`${damaged}/bills/part-00000.parquet`) ? rotten : undefined,
  );
  const asked = await openLake({ location: s3.location, scratch: `${scratch}-of-asked` });
  const { problems } = await proxy.use(() => verifySnapshot(asked, { id: damaged, spillFolder: scratch }));
  expect(problems).toEqual(['bills/part-00000.parquet has other bytes']);
  expect(await proxy.use(() => exportNow())).toMatchObject({ skipped: false });
});

test('an export gives up if the pointer changes before every attempt to replace it', async () => {
  const proxy = await startAnsweringProxy(s3.env.AWS_ENDPOINT_URL!, (method, { pathname }) =>
    method === 'PUT' && pathname.endsWith('/latest.json') ? { status: 412, body: '' } : undefined,
  );
  await expect(proxy.use(() => exportNow({ force: true }))).rejects.toMatchObject({
    name: 'LakeRefused',
    message: expect.stringContaining('latest.json is another one whenever') as string,
  });
});

test('complete snapshots are kept although a lagging server misses their _SUCCESS', async () => {
  const proxy = await startAnsweringProxy(s3.env.AWS_ENDPOINT_URL!, (method, { pathname }) =>
    method === 'HEAD' && pathname.endsWith('/_SUCCESS') ? { status: 404, body: '' } : undefined,
  );
  const before = await lake.filesIn(`snapshots/${id}`);
  const ids = await lake.snapshotIds();
  const made = await proxy.use(() => exportNow({ force: true }));
  expect(await lake.snapshotIds()).toEqual([...ids, made.snapshotId]);
  expect(await lake.filesIn(`snapshots/${id}`)).toEqual(before);
});

async function through(
  answerTo: (method: string, url: URL) => Answer | undefined,
  work: (asked: Lake) => Promise<void>,
): Promise<void> {
  const proxy = await startAnsweringProxy(s3.env.AWS_ENDPOINT_URL!, answerTo);
  const asked = await openLake({ location: s3.location, scratch: `${scratch}-of-asked` });
  await proxy.use(() => work(asked));
  await asked.close();
}

/** An object whose stored checksum does not match, as the client reads it. */
const rotten: Answer = { status: 200, body: 'rotten', headers: { 'x-amz-checksum-crc32': 'AAAAAA==' } };

function ok(body: string): Answer {
  return { status: 200, body };
}
