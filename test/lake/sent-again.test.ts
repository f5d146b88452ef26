import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openLake } from '../../lake/open-lake.ts';
import type { Lake } from '../../lake/lake.ts';
import { sha256OfFile } from '../../lake/parquet/read-back.ts';
import { startS3Server } from './s3-server.ts';
import { pass, startS3Proxy } from './s3-proxy.ts';

const s3 = await startS3Server();
const folder = await mkdtemp(join(tmpdir(), 'daybook-sent-again-'));
afterAll(() => rm(folder, { recursive: true }));
const [small, large] = [join(folder, 'small'), join(folder, 'large')];
await writeFile(small, 'ours');
await writeFile(large, Buffer.alloc(20_000_000));
const source = { path: 'marts/one/bills.parquet', bytes: 4, sha256: '' };

const lost = Object.assign(new Error('the lock is lost'), { code: 'ECONNRESET' });

test.each<[string, (lake: Lake) => Promise<unknown>]>([
  ['an upload', (lake) => lake.putFile('marts/one/bills.parquet', small)],
  ['an upload in parts', (lake) => lake.putFile('marts/one/bills.parquet', large)],
  ['a removal', (lake) => lake.removeFile('marts/one/bills.parquet')],
  ['a removal of a folder', (lake) => lake.removeFolder('marts/one')],
  ['a pointer', (lake) => lake.replace('latest-marts.json', '{}', undefined)],
  ['a copy', (lake) => lake.share(source, 'iceberg/marts/bills/data/x.parquet')],
])('%s whose answer was lost is not sent again without the lock', async (_, write) => {
  const before = await openLake({ location: s3.location, scratch: folder });
  await before.putFile(source.path, small);
  source.sha256 = await sha256OfFile(small);
  let isHeld = true;
  let sent = 0;
  const proxy = await startS3Proxy(s3.env.AWS_ENDPOINT_URL!, (incoming, outgoing) => {
    const { method = 'GET', headers, url = '' } = incoming;
    if (['GET', 'HEAD'].includes(method)) {
      incoming.pipe(pass(new URL(url, s3.env.AWS_ENDPOINT_URL), { method, headers }, outgoing));
      return;
    }
    sent += 1;
    // The process stands still here, and another one gets the lock.
    isHeld = false;
    incoming.socket.destroy();
  });
  const assertHeld = (): Promise<void> => (isHeld ? Promise.resolve() : Promise.reject(lost));
  await proxy.use(async () => {
    const lake = await openLake({ location: s3.location, scratch: folder, assertHeld });
    await expect(write(lake)).rejects.toBe(lost);
    await lake.close();
  });
  expect(sent).toBe(1);
  expect((await before.read(source.path))?.text).toBe('ours');
  await before.close();
});
