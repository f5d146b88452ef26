import {
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { expect, test } from 'vitest';
import { openLake } from '../../lake/open-lake.ts';
import { sparkNamespaces } from '../../marts/spark-namespaces.ts';
import { startAnsweringProxy } from './answering-proxy.ts';
import { startS3Server } from './s3-server.ts';

const s3 = await startS3Server();
const lake = await openLake({ location: s3.location, scratch: 'none' });
const left = 'snapshots/20200101T000000Z-aaaaaa';

const list = (method: string, { searchParams }: URL): boolean =>
  method === 'GET' && searchParams.has('uploads');
const abort = (method: string, { searchParams }: URL): boolean =>
  method === 'DELETE' && searchParams.has('uploadId');

test.each([
  ['are gone by then', 404, 'NoSuchUpload', abort],
  ['the server knows nothing of', 501, 'NotImplemented', list],
])('unfinished uploads that %s do not block a cleanup', async (_, status, code, isMeant) => {
  const { removed } = await removeLeftovers(status, code, isMeant);
  await removed;
  expect(await lake.filesIn(left)).toEqual([]);
});

test.each([
  ['given up', abort],
  ['listed', list],
])('unfinished uploads that may not be %s are reported after the rest of the cleanup', async (_, isMeant) => {
  const { removed } = await removeLeftovers(403, 'AccessDenied', isMeant);
  await expect(removed).rejects.toMatchObject({
    name: 'LakeKeeps',
    message: expect.stringMatching(
      /did not abort unfinished uploads \(AccessDenied\).*s3:ListBucketMultipartUploads, s3:AbortMultipartUpload/,
    ) as string,
  });
  expect(await lake.filesIn(left)).toEqual([]);
});

test('a cleanup aborts unfinished uploads of Iceberg tables together with other leftovers', async () => {
  const uploads = [
    'finance/bills/data',
    'marts/bills/metadata',
    'marts_spark/bills/data',
    'marts_spark_build/x',
  ];
  for (const name of uploads) await begin(`iceberg/${name}/left`);
  await lake.removeLeftovers('snapshots');
  expect(await uploadsIn('iceberg/')).toEqual(uploads.slice(1).map((name) => `iceberg/${name}/left`));
  await lake.removeLeftovers('marts');
  for (const namespace of Object.values(sparkNamespaces)) await lake.removeFolder(`iceberg/${namespace}`);
  expect(await uploadsIn('iceberg/')).toEqual([]);
});

async function uploadsIn(path: string): Promise<string[]> {
  const { Uploads = [] } = await s3.client.send(new ListMultipartUploadsCommand({ Bucket: s3.bucket }));
  const paths = Uploads.map(({ Key = '' }) => Key.slice('some/prefix/'.length));
  return paths.filter((name) => name.startsWith(path)).sort();
}

async function removeLeftovers(
  status: number,
  code: string,
  isMeant: (method: string, url: URL) => boolean,
): Promise<{ removed: Promise<void> }> {
  await begin(`${left}/upload`);
  await put(`${left}/bills/part-00000.parquet`);
  const body = `<?xml version="1.0"?><Error><Code>${code}</Code></Error>`;
  const asked = await openLake({ location: s3.location, scratch: 'none' });
  const proxy = await startAnsweringProxy(s3.env.AWS_ENDPOINT_URL!, (method, url) =>
    isMeant(method, url) ? { status, body } : undefined,
  );
  const removed = proxy.use(() => asked.removeLeftovers('snapshots'));
  await removed.catch(() => undefined);
  return { removed };
}

async function begin(path: string): Promise<void> {
  await s3.client.send(new CreateMultipartUploadCommand({ Bucket: s3.bucket, Key: `some/prefix/${path}` }));
}

async function put(path: string): Promise<void> {
  await s3.client.send(new PutObjectCommand({ Bucket: s3.bucket, Key: `some/prefix/${path}`, Body: 'left' }));
}
