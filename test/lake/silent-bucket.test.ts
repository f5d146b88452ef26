import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { openBucket, type Bucket } from '../../lake/storage/bucket.ts';
import { deletedBut } from './deleted-but.ts';

const set = [
  'AWS_ENDPOINT_URL',
  'AWS_REGION',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
];
afterEach(() => {
  for (const name of set) Reflect.deleteProperty(process.env, name);
});

test('an endless object that states its size is not downloaded', async () => {
  const { download, sent, localPath } = await bucketOf((_, response) => {
    response.writeHead(200, { 'content-length': 5e12 });
    sendForEver(response);
  });
  expect(await download).toBe('has another size');
  expect(sent()).toBeLessThan(20_000_000);
  await expect(stat(localPath)).rejects.toThrow('ENOENT');
});

test('an endless object that states no size is kept only up to the size in the manifest', async () => {
  const { download, localPath } = await bucketOf((_, response) => {
    sendForEver(response);
  });
  expect(await download).toBe('has another size');
  expect((await stat(localPath)).size).toBeLessThanOrEqual(bytes);
});

test('an object shorter than the manifest says is reported as having another size', async () => {
  const { download } = await bucketOf((_, response) => {
    response.end('short');
  });
  expect(await download).toBe('has another size');
});

test('a file that does not match its checksum is reported as having other bytes', async () => {
  const { bucket, download } = await bucketOf((_, response) => {
    response.writeHead(200, { 'x-amz-checksum-crc32': 'AAAAAA==', etag: '"1"', 'content-length': bytes });
    response.end('x'.repeat(bytes));
  });
  expect(await download).toBe('has other bytes');
  expect(await bucket.read('latest.json')).toEqual({ text: '', version: '"1"' });
});

test.each([
  ['before it answers', () => undefined],
  ['within an object', (response) => response.writeHead(200, { 'content-length': bytes }).write('P')],
] satisfies [string, (response: Parameters<RequestListener>[1]) => unknown][])(
  'a bucket that falls silent %s is reported as unavailable',
  async (_, begin) => {
    const { download } = await bucketOf((_, response) => {
      begin(response);
    });
    await expect(download).rejects.toMatchObject({
      name: 'LakeUnavailable',
      handling: 'retry',
      message: expect.stringContaining('(TimeoutError)') as string,
    });
  },
);

const bytes = 1_000;

const secret = 'planteds3secret';
const session = 'planted/sessiontokenofarole';

test.each([
  ['AccessDenied', 'AccessDenied'],
  ['its markup', '&lt;!channel&gt; &lt;https://evil.example|Session expired&gt;'],
  ['the credentials it was sent', 'planteds3secret'],
  ['a part of them', 'sessiontokenofarole'],
  ['a code of 200 kB', 'x'.repeat(200_000)],
])('an error repeats nothing of a refusal but a code of S3: %s', async (_, code) => {
  const { bucket } = await bucketOf((_, response) => {
    response.writeHead(403).end(`<Error><Code>${code}</Code><Message>${session}</Message></Error>`);
  });
  const reason = code === 'AccessDenied' ? 'AccessDenied' : 'status 403';
  await expect(bucket.list('snapshots/')).rejects.toMatchObject({
    name: 'LakeRefused',
    message: `Cannot use the lake s3://b: ${reason}. Check DAYBOOK_LAKE and its permissions.`,
  });
});

test.each([
  ['a page of what stands in front', '<!doctype html><html><hr>Bad gateway</html>'],
  ['a page of what stands in front that is XML', '<html>Bad gateway</html>'],
  ['nothing', ''],
  ['one that does not say whether there is more', '<ListBucketResult></ListBucketResult>'],
  [
    'one that does not say where there is more',
    '<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>',
  ],
  ['half an answer', '<ListBucketResult><Contents>'],
  ['an address that is none', listOf('snapshots/%ZZ')],
])(
  'a listing that cannot be read counts as no answer, and is reported in a sentence: %s',
  async (_, answer) => {
    const { bucket } = await bucketOf((_, response) => {
      response.end(answer);
    });
    await expect(bucket.list('snapshots/')).rejects.toMatchObject({
      name: 'LakeUnavailable',
      handling: 'retry',
      message:
        'The lake s3://b does not answer (its answer cannot be read). Exports resume by themselves once it does; rerun any command that failed because of this.',
    });
  },
);

test('a listing whose next page is always the same is refused as endless', async () => {
  const more = '<IsTruncated>true</IsTruncated><NextContinuationToken>again</NextContinuationToken>';
  const { bucket } = await bucketOf((_, response) => {
    response.end(`<ListBucketResult>${more}</ListBucketResult>`);
  });
  const endless = { name: 'LakeRefused', message: expect.stringContaining('has no end') as string };
  await expect(bucket.list('snapshots/')).rejects.toMatchObject(endless);
  await expect(bucket.folders('snapshots/')).rejects.toMatchObject(endless);
  // It delays nothing else.
  const kept = { name: 'LakeKeeps', message: expect.stringContaining('still listed') as string };
  await expect(bucket.remove(['snapshots/a'])).rejects.toMatchObject(kept);
  await expect(bucket.removeBelow('snapshots/')).rejects.toMatchObject(kept);
});

test.each([
  ['AccessDenied', 'LakeKeeps', '(AccessDenied)'],
  ['&lt;!channel&gt;', 'LakeKeeps', '(without a code)'],
  ['InternalError', 'LakeUnavailable', '(InternalError)'],
])(
  'files that the bucket does not remove are reported although it answers 200: %s',
  async (code, name, said) => {
    const { bucket } = await bucketOf((request, response) => {
      request.resume().on('end', () => response.end(deletedBut(['a.parquet', 'b.parquet'], code)));
    });
    const message = expect.stringContaining(said) as string;
    await expect(bucket.remove(['a.parquet', 'b.parquet'])).rejects.toMatchObject({ name, message });
  },
);

test('a file that is already gone counts as removed', async () => {
  const { bucket } = await bucketOf((request, response) => {
    const answer = request.method === 'POST' ? deletedBut(['a.parquet'], 'NoSuchKey') : nothingListed;
    request.resume().on('end', () => response.end(answer));
  });
  await bucket.remove(['a.parquet']);
});

test('unfinished uploads on every page of their list are aborted', async () => {
  const aborted: string[] = [];
  const { bucket } = await bucketOf((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://x');
    if (request.method === 'DELETE') aborted.push(pathname);
    const first =
      '<IsTruncated>true</IsTruncated><NextKeyMarker>a</NextKeyMarker><Upload><Key>a</Key><UploadId>1</UploadId></Upload>';
    const second = '<IsTruncated>false</IsTruncated><Upload><Key>b</Key><UploadId>2</UploadId></Upload>';
    const page = searchParams.get('key-marker') === 'a' ? second : first;
    response.end(`<ListMultipartUploadsResult>${page}</ListMultipartUploadsResult>`);
  });
  await bucket.abortUploads('');
  expect(aborted).toEqual(['/b/a', '/b/b']);
});

test('an endless list of uploads is reported', async () => {
  const more = '<IsTruncated>true</IsTruncated><NextKeyMarker>a</NextKeyMarker>';
  const { bucket } = await bucketOf((_, response) => {
    response.end(`<ListMultipartUploadsResult>${more}</ListMultipartUploadsResult>`);
  });
  await expect(bucket.abortUploads('')).rejects.toMatchObject({ name: 'LakeKeeps' });
});

function listOf(key: string): string {
  return `<ListBucketResult><IsTruncated>false</IsTruncated><EncodingType>url</EncodingType><Contents><Key>${key}</Key></Contents></ListBucketResult>`;
}

const nothingListed = '<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>';

async function bucketOf(
  answer: RequestListener,
): Promise<{ bucket: Bucket; download: Promise<unknown>; sent: () => number; localPath: string }> {
  let sent = 0;
  const server = createServer(answer);
  server.on('connection', (socket) => socket.on('close', () => (sent += socket.bytesWritten)));
  const folder = await mkdtemp(join(tmpdir(), 'daybook-silent-'));
  const url = await urlOf(server);
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await rm(folder, { recursive: true });
  });
  for (const [at, value] of [url, 'us-east-1', 'test', secret, session].entries())
    process.env[set[at] ?? ''] = value;
  const bucket = openBucket('s3://b', { silenceMs: 300 });
  onTestFinished(() => {
    bucket.close();
  });
  const localPath = join(folder, 'downloaded');
  const object = { path: 'a.parquet', bytes };
  return {
    bucket,
    // A getter, so that tests of other requests do not wait for it.
    get download() {
      return bucket.download(object, localPath);
    },
    ...{ sent: () => sent, localPath },
  };
}

async function urlOf(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function sendForEver(response: Parameters<RequestListener>[1]): void {
  const send = (): void => {
    while (!response.destroyed && response.write(Buffer.alloc(65_536)));
  };
  response.on('drain', send);
  response.on('error', () => undefined);
  send();
}
