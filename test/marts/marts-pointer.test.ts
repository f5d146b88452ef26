import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openDuckDb, quoted } from '../../lake/duck-db.ts';
import { manifestText } from '../../lake/manifest.ts';
import { openLake } from '../../lake/open-lake.ts';
import { publishOnLake, readMartsPointer } from '../../marts/publish-on-lake.ts';
import { emptyManifest } from '../lake/empty-manifest.ts';
import { lockHeld } from '../lake/lock-held.ts';

const folder = await mkdtemp(join(tmpdir(), 'daybook-marts-pointer-'));
afterAll(() => rm(folder, { recursive: true, force: true }));
const lake = await openLake({ location: join(folder, 'lake'), scratch: join(folder, 'scratch') });
const [older, newer] = ['20261121T120000Z-aaaaaa', '20261122T120000Z-bbbbbb'];

test('marts of an older snapshot are shown in the place of those of a newer one only when that is gone', async () => {
  for (const id of [older, newer]) await putSnapshot(id);
  await publish(newer);
  await publish(older);
  expect((await readMartsPointer(lake)).pointer?.snapshot_id).toBe(newer);
  await rm(join(lake.location, 'snapshots', newer), { recursive: true });
  await publish(older);
  expect((await readMartsPointer(lake)).pointer?.snapshot_id).toBe(older);
});

async function putSnapshot(id: string): Promise<void> {
  const place = join(lake.location, 'snapshots', id);
  await mkdir(place, { recursive: true });
  await writeFile(join(place, '_manifest.json'), manifestText(emptyManifest(id, 'the-warehouse')));
  await writeFile(join(place, '_SUCCESS'), '');
}

async function publish(snapshotId: string): Promise<void> {
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
  await publishOnLake(lake, { database, snapshotId, asOfDate: '2026-01-01', scratch, assertHeld: lockHeld });
}
