import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { openBucket } from '../../lake/bucket.ts';

const set = ['AWS_ENDPOINT_URL', 'AWS_REGION', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'];
afterEach(() => {
  for (const name of set) Reflect.deleteProperty(process.env, name);
});

test('of an object without end nothing is fetched when it tells its size', async () => {
  const { download, sent, localPath } = await bucketOf((_, response) => {
    response.writeHead(200, { 'content-length': 5e12 });
    sendForEver(response);
  });
  expect(await download).toBe('has another size');
  expect(sent()).toBeLessThan(20_000_000);
  await expect(stat(localPath)).rejects.toThrow('ENOENT');
});

test('of one that tells none no more is kept than the manifest says', async () => {
  const { download, localPath } = await bucketOf((_, response) => {
    sendForEver(response);
  });
  expect(await download).toBe('has another size');
  expect((await stat(localPath)).size).toBeLessThanOrEqual(bytes);
});

test('a shorter object is another', async () => {
  const { download } = await bucketOf((_, response) => {
    response.end('short');
  });
  expect(await download).toBe('has another size');
});

test.each([
  ['before it answers', () => undefined],
  ['within an object', (response) => response.writeHead(200, { 'content-length': bytes }).write('P')],
] satisfies [string, (response: Parameters<RequestListener>[1]) => unknown][])(
  'a bucket that falls silent %s does not answer',
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

async function bucketOf(
  answer: RequestListener,
): Promise<{ download: Promise<unknown>; sent: () => number; localPath: string }> {
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
  for (const [at, value] of [url, 'us-east-1', 'test', 'planted-s3-secret'].entries())
    process.env[set[at] ?? ''] = value;
  const bucket = openBucket('s3://b', { silenceMs: 300 });
  onTestFinished(() => {
    bucket.close();
  });
  const localPath = join(folder, 'downloaded');
  return { download: bucket.download({ path: 'a.parquet', bytes }, localPath), sent: () => sent, localPath };
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
