import { mkdirSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import type { AssertHeld, Lake } from '../../lake/lake.ts';
import { openLake } from '../../lake/open-lake.ts';
import { onceDone } from './once-done.ts';

const id = '20260101T000000Z-abcdef';
const table = 'iceberg/marts_spark/vendors/metadata/00000-of-the-next.json';

let location: string;
beforeEach(async () => {
  location = await mkdtemp(join(tmpdir(), 'daybook-stalled-folder-'));
  const folder = location;
  onTestFinished(() => rm(folder, { recursive: true }));
});

/** A process stands still before or after it has asked for its lock; the next writer works meanwhile. */
const moments = ['before it asks for its lock', 'after it has asked for its lock'] as const;
type Moment = (typeof moments)[number];

test.each(moments)(
  'a pointer that a process replaces, which stood still %s, stays as the next one left it',
  async (moment) => {
    const next = await open();
    await next.replace('latest.json', 'before', undefined);
    const found = await next.read('latest.json');
    const stalled = await open(
      standingStill(moment, 1, async () => {
        await next.removeLeftovers('snapshots');
        await next.replace('latest.json', 'of the next', found);
      }),
    );
    const replaced = stalled.replace('latest.json', 'of the stalled', found).catch(() => false);
    expect(await replaced).toBe(false);
    expect((await next.read('latest.json'))?.text).toBe('of the next');
  },
);

test('a pointer that is not as it was found is not replaced', async () => {
  const lake = await open();
  expect(await lake.replace('latest.json', 'first', undefined)).toBe(true);
  const found = await lake.read('latest.json');
  expect(await lake.replace('latest.json', 'second', found)).toBe(true);
  expect(await lake.replace('latest.json', 'third', found)).toBe(false);
  expect(await lake.replace('latest.json', 'third', undefined)).toBe(false);
  expect((await lake.read('latest.json'))?.text).toBe('second');
});

test.each([1, 2, 3, 4])(
  'a process that stands still at folder %s of those that it removes leaves what the next one has put there',
  async (at) => {
    for (const name of ['bills', 'vendors'])
      for (const kind of ['data', 'metadata']) await put(`iceberg/marts_spark/${name}/${kind}/old`);
    const stalled = await open(standingStill('before it asks for its lock', at, () => put(table)));
    await expect(stalled.removeFolder('iceberg/marts_spark')).rejects.toThrow('lost');
    expect(await readFile(join(location, table), 'utf8')).toBe('content');
  },
);

test.skipIf(process.platform !== 'linux')(
  'a cleanup of marts that stands still after it has read which snapshots there are leaves newer marts',
  async () => {
    await put(`marts/${id}/bills/part-00000.parquet`);
    await mkdir(join(location, 'snapshots'));
    const newer = ['snapshots', 'marts'].map((folder) => join(location, folder, '20260102T000000Z-abcdef'));
    onceDone('readdir', join(location, 'snapshots'), () => {
      for (const folder of newer) {
        mkdirSync(folder);
        writeFileSync(join(folder, '_SUCCESS'), '');
      }
    });
    const lake = await open();
    await lake.removeLeftovers('marts');
    expect(await readdir(join(location, 'marts'))).toEqual(['20260102T000000Z-abcdef']);
  },
);

test('an attempt that stood still while it wrote a snapshot removes nothing of its retry, whose snapshot has the same ID', async () => {
  const [stalled, retry] = [await open(), await open()];
  const woken = newSignal();
  const writing = newSignal();
  const attempt = stalled.withDraft(id, async (folder) => {
    await writeFile(join(folder, '_manifest.json'), 'of the stalled');
    writing.tell();
    await woken.told;
    await stalled.publish(id, { written: new Map(), kept: [] });
  });
  await writing.told;
  await retry.removeLeftovers('snapshots');
  await retry.withDraft(id, async (folder) => {
    await writeFile(join(folder, '_manifest.json'), 'of the retry');
    woken.tell();
    await expect(attempt).rejects.toThrow('ENOENT');
    await retry.publish(id, { written: new Map(), kept: [] });
  });
  expect(await retry.snapshotIds()).toEqual([id]);
  expect((await retry.read(`snapshots/${id}/_manifest.json`))?.text).toBe('of the retry');
});

function open(assertHeld?: AssertHeld): Promise<Lake> {
  return openLake({ location, scratch: location, assertHeld });
}

async function put(path: string): Promise<void> {
  await mkdir(dirname(join(location, path)), { recursive: true });
  await writeFile(join(location, path), 'content');
}

/** Stands still at one question for the lock, while the next writer works, and has lost the lock from then on. */
function standingStill(moment: Moment, at: number, meanwhile: () => Promise<void>): AssertHeld {
  let asked = 0;
  return async () => {
    asked += 1;
    if (asked === at) await meanwhile();
    if (asked > at || (asked === at && moment === moments[0])) throw new Error('The lock is lost.');
  };
}

function newSignal(): { told: Promise<void>; tell: () => void } {
  let tell: () => void = () => undefined;
  const told = new Promise<void>((resolve) => {
    tell = resolve;
  });
  return { told, tell };
}
