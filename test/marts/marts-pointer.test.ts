import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openDuckDb, quoted } from '../../lake/parquet/duck-db.ts';
import { manifestText } from '../../lake/manifest/manifest.ts';
import { openLake } from '../../lake/open-lake.ts';
import { readManifest } from '../../lake/manifest/pointer.ts';
import { martsPointerPath, publishOnLake, readMartsPointer } from '../../marts/publish-on-lake.ts';
import { emptyManifest } from '../lake/empty-manifest.ts';

const folder = await mkdtemp(join(tmpdir(), 'daybook-marts-pointer-'));
afterAll(() => rm(folder, { recursive: true, force: true }));
const lake = await openLake({ location: join(folder, 'lake'), scratch: join(folder, 'scratch') });
const [older, newer] = ['20261121T120000Z-aaaaaa', '20261122T120000Z-bbbbbb'];

test('marts of an older snapshot replace those of a newer one only when the newer snapshot is gone', async () => {
  for (const id of [older, newer]) await putSnapshot(id);
  await publish(newer);
  await publish(older);
  expect((await readMartsPointer(lake)).pointer?.snapshot_id).toBe(newer);
  await rm(join(lake.location, 'snapshots', newer), { recursive: true });
  await publish(older);
  expect((await readMartsPointer(lake)).pointer?.snapshot_id).toBe(older);
});

test('marts of newer rows replace older ones, even if their snapshot has an older ID', async () => {
  await lake.removeFile(martsPointerPath);
  // A snapshot as of a run that was reset.
  await putSnapshot(older, '2026-11-23T12:00:00.000001Z');
  await putSnapshot(newer);
  expect(await publish(newer)).toEqual(['bills']);
  expect(await publish(older)).toEqual(['bills']);
  expect((await readMartsPointer(lake)).pointer?.snapshot_id).toBe(older);
  expect(await publish(newer)).toBeUndefined();
  expect((await readMartsPointer(lake)).pointer?.snapshot_id).toBe(older);
});

async function putSnapshot(id: string, takenAt?: string): Promise<void> {
  const place = join(lake.location, 'snapshots', id);
  await mkdir(place, { recursive: true });
  const manifest = emptyManifest(id, 'the-warehouse');
  await writeFile(
    join(place, '_manifest.json'),
    manifestText({ ...manifest, taken_at: takenAt ?? manifest.taken_at }),
  );
  await writeFile(join(place, '_SUCCESS'), '');
}

async function publish(snapshotId: string): Promise<string[] | undefined> {
  const scratch = join(folder, 'marts');
  await rm(scratch, { recursive: true, force: true });
  await mkdir(scratch, { recursive: true });
  const database = join(scratch, 'marts.duckdb');
  const duckDb = await openDuckDb({ spillFolder: scratch });
  const connection = await duckDb.connect();
  await connection.run(`attach ${quoted(database)} as built`);
  await connection.run(`create schema built.marts; create table built.marts.bills as select 1 as one`);
  await connection.run('detach built');
  connection.closeSync();
  duckDb.close();
  const takenAt = (await readManifest(lake, snapshotId))?.taken_at ?? '';
  const built = { database, snapshotId, takenAt, asOfDate: '2026-01-01', scratch };
  return publishOnLake(lake, built);
}
