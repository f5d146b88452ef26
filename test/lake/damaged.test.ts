import { appendFile, copyFile, mkdir, open, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openLake } from '../../lake/open-lake.ts';
import { verifySnapshot } from '../../lake/snapshots/verify-snapshot.ts';
import { bill } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { some } from '../support/proof-test.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { createTestLake, type TestLake } from './create-test-lake.ts';

const { warehouse, url } = await createTestDatabase();
const connection = await addTestConnection(warehouse);
await land(warehouse, { connectionId: connection, stream: 'bills', pages: [[bill('b1'), bill('b2')]] });

const damages: readonly (readonly [string, (snapshot: string, lake: string) => Promise<void>])[] = [
  ['a file is gone', (snapshot) => rm(join(snapshot, 'bills/part-00000.parquet'))],
  ['a file is cut', (snapshot) => truncate(join(snapshot, 'bills/part-00000.parquet'), 100)],
  ['a file is longer', (snapshot) => appendFile(join(snapshot, 'items/part-00000.parquet'), 'x')],
  ['a byte of a file is another', (snapshot) => flipByte(join(snapshot, 'bills/part-00000.parquet'))],
  [
    'a file that it does not name lies beside those of a table',
    (snapshot) =>
      copyFile(join(snapshot, 'bills/part-00000.parquet'), join(snapshot, 'bills/part-00001.parquet')),
  ],
  ['_SUCCESS is gone', (snapshot) => rm(join(snapshot, '_SUCCESS'))],
  ['the manifest is gone', (snapshot) => rm(join(snapshot, '_manifest.json'))],
  ['the manifest is cut', (snapshot) => truncate(join(snapshot, '_manifest.json'), 200)],
  ['the manifest is another', (snapshot) => appendFile(join(snapshot, '_manifest.json'), '\n')],
  ['the pointer is cut', (_, lake) => truncate(join(lake, 'latest.json'), 20)],
];

test.each(some(damages))(
  'an export replaces a damaged snapshot although nothing has changed: %s',
  async (_, damage) => {
    const lake = await createTestLake(url);
    const first = await lake.exportNow();
    expect(await lake.exportNow()).toMatchObject({ skipped: true, snapshotId: first.snapshotId });
    await damage(join(lake.location, 'snapshots', first.snapshotId), lake.location);
    const second = await lake.exportNow();
    expect(second).toMatchObject({ skipped: false, damage: expect.any(String) as string });
    expect(await problemsOf(lake, second.snapshotId)).toEqual([]);
    expect(await latestOf(lake)).toBe(second.snapshotId);
    expect(await lake.exportNow()).toMatchObject({ skipped: true, snapshotId: second.snapshotId });
  },
);

test('an export fails with a sentence, and is not retried, if a folder is in the place of the pointer', async () => {
  const lake = await createTestLake(url);
  const pointer = join(lake.location, 'latest.json');
  await mkdir(join(pointer, 'full'), { recursive: true });
  const failed = lake.exportNow();
  await expect(failed).rejects.toMatchObject({ name: 'LakeRefused', handling: 'stop' });
  await expect(failed).rejects.toThrow(
    /Cannot use the lake .*: latest\.json is a folder, .*; move it elsewhere\./,
  );
  await rm(pointer, { recursive: true });
  await lake.exportNow();
  expect(await latestOf(lake)).toBeDefined();
});

test('a forced export makes a snapshot although nothing has changed', async () => {
  const lake = await createTestLake(url);
  const first = await lake.exportNow();
  const second = await lake.exportNow({ force: true });
  expect(second).toMatchObject({ skipped: false });
  expect(second.snapshotId).not.toBe(first.snapshotId);
  expect(second).not.toHaveProperty('damage');
});

test('an export refuses the lake of another warehouse although its manifest is damaged', async () => {
  const lake = await createTestLake(url);
  const { snapshotId } = await lake.exportNow();
  const manifest = join(lake.location, 'snapshots', snapshotId, '_manifest.json');
  await writeFile(manifest, (await readFile(manifest, 'utf8')).replace('"the-warehouse"', '"another"'));
  await expect(lake.exportNow()).rejects.toThrow(/snapshots of another warehouse/);
});

async function problemsOf({ location, scratch }: TestLake, id: string): Promise<readonly string[]> {
  const lake = await openLake({ location, scratch });
  return (await verifySnapshot(lake, { id, spillFolder: scratch })).problems;
}

async function latestOf({ location }: TestLake): Promise<string> {
  return (JSON.parse(await readFile(join(location, 'latest.json'), 'utf8')) as { snapshot_id: string })
    .snapshot_id;
}

async function flipByte(path: string): Promise<void> {
  const file = await open(path, 'r+');
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, 40);
  await file.write(Buffer.from([buffer[0]! ^ 1]), 0, 1, 40);
  await file.close();
}
