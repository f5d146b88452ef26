import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sha256Of } from '../../lake/manifest/manifest.ts';
import type { Lake } from '../../lake/lake.ts';
import { openLake } from '../../lake/open-lake.ts';
import { startAnsweringProxy } from './answering-proxy.ts';
import { pass, startS3Proxy } from './s3-proxy.ts';
import { startS3Server } from './s3-server.ts';

const s3 = await startS3Server();
const server = s3.env.AWS_ENDPOINT_URL!;

test('a write whose answer was lost is not mistaken for somebody else’s', async () => {
  const lost = new Set(['part.parquet', '_manifest.json']);
  const proxy = await startS3Proxy(server, (incoming, outgoing) => {
    const url = new URL(incoming.url ?? '', server);
    const { method, headers } = incoming;
    const isLost = method === 'PUT' && lost.delete(url.pathname.split('/').at(-1) ?? '');
    const onward = pass(url, { method, headers }, outgoing);
    if (isLost) onward.removeAllListeners('response').on('response', () => outgoing.destroy());
    incoming.pipe(onward);
  });
  const lake = await open(proxy.use);
  const id = '20261121T120000Z-aaaaaa';
  await publish(lake, id, 'rows');
  expect(lost.size).toBe(0);
  expect(await lake.snapshotIds()).toEqual([id]);
  // Other content at the same path is a refusal.
  await expect(publish(lake, id, 'other rows')).rejects.toMatchObject({ name: 'SnapshotBroken' });
});

test('a completed multipart upload whose answer was lost is not mistaken for a refusal', async () => {
  let completed = 0;
  const proxy = await startS3Proxy(server, (incoming, outgoing) => {
    const url = new URL(incoming.url ?? '', server);
    const { method, headers } = incoming;
    const completes = method === 'POST' && url.searchParams.has('uploadId');
    if (completes) completed += 1;
    if (completes && completed > 1) {
      // Some servers answer this once the upload is complete.
      incoming.resume();
      outgoing.writeHead(404).end('<Error><Code>NoSuchUpload</Code></Error>');
      return;
    }
    const onward = pass(url, { method, headers }, outgoing);
    if (completes) onward.removeAllListeners('response').on('response', () => outgoing.destroy());
    incoming.pipe(onward);
  });
  const lake = await open(proxy.use);
  const id = '20261121T120000Z-bbbbbb';
  await publish(lake, id, 'r'.repeat(17 * 1_048_576));
  expect(completed).toBe(2);
  expect(await lake.snapshotIds()).toContain(id);
});

test('an object over the 5 GB limit of an S3 copy is never requested as a copy', async () => {
  const [bytes, sha256] = [6_000_000_000, sha256Of('rows')];
  const headers = { 'content-length': String(bytes), 'x-amz-meta-sha256': sha256, etag: '"of-it"' };
  const puts: string[] = [];
  const proxy = await startAnsweringProxy(server, (method, url) => {
    if (method === 'PUT') puts.push(url.pathname);
    // As S3 does.
    if (method === 'PUT') return { status: 400, body: '<Error><Code>InvalidRequest</Code></Error>' };
    return method === 'HEAD' && url.pathname.endsWith('large.parquet')
      ? { status: 200, body: '', headers }
      : undefined;
  });
  const lake = await open(proxy.use);
  const from = { path: 'large.parquet', bytes, sha256 };
  expect(await lake.share({ ...from, path: `snapshots/x/${from.path}` }, 'iceberg/large')).toBe(false);
  const to = { id: 'y', paths: ['other.parquet'] };
  expect(await lake.keep({ id: 'x', files: [from] }, to)).toBe(false);
  expect(puts).toEqual([]);
});

test('storage without conditional writes is reported as unfit, and not retried forever', async () => {
  const body = '<Error><Code>NotImplemented</Code></Error>';
  const proxy = await startAnsweringProxy(server, (method) =>
    method === 'PUT' ? { status: 501, body } : undefined,
  );
  const lake = await open(proxy.use);
  await expect(lake.replace('latest.json', '{}', undefined)).rejects.toMatchObject({
    name: 'LakeRefused',
    message: expect.stringContaining('NotImplemented') as string,
  });
});

test.each([
  { status: 507, code: 'XMinioStorageFull' },
  { status: 400, code: 'XMinioAdminBucketQuotaExceeded' },
  { status: 403, code: 'QuotaExceeded' },
])('a full bucket ($code) is reported as full, and not asked again and again', async ({ status, code }) => {
  let asked = 0;
  const proxy = await startAnsweringProxy(server, (method) => {
    if (method !== 'PUT') return undefined;
    asked += 1;
    return { status, body: `<Error><Code>${code}</Code></Error>` };
  });
  const lake = await open(proxy.use);
  await expect(publish(lake, '20261121T120000Z-cccccc', 'rows')).rejects.toMatchObject({
    name: 'LakeRefused',
    handling: 'stop',
    message:
      `Cannot use the lake ${s3.location}: it is full (${code}). Free some space or raise its quota, ` +
      'then rerun "daybook export", or the command that failed because of this.',
  });
  expect(asked).toBeLessThanOrEqual(2);
});

async function publish(lake: Lake, id: string, rows: string): Promise<void> {
  await lake.withDraft(id, async (folder) => {
    await writeFile(join(folder, 'part.parquet'), rows);
    await writeFile(join(folder, '_manifest.json'), '{}');
    const written = new Map([['part.parquet', sha256Of(rows)]]);
    await lake.publish(id, { written, kept: [] });
  });
}

/** The client determines the server's address at its first request, so one is made here. */
function open(use: <Result>(work: () => Promise<Result>) => Promise<Result>): Promise<Lake> {
  return use(async () => {
    const lake = await openLake({ location: s3.location, scratch: join(tmpdir(), `answers-${process.pid}`) });
    await lake.read('latest.json');
    return lake;
  });
}
