import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { showSnapshots } from '../../iceberg/show-snapshots.ts';
import { openLake } from '../../lake/open-lake.ts';
import { cacheFolder } from '../support/cache-folder.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { createTestLake } from './create-test-lake.ts';
import { readIceberg } from './read-iceberg.ts';

const { url } = await createTestDatabase();
const { exportNow, location, scratch, owner } = await createTestLake(url);
const lake = await openLake({ location, scratch });
const places = { databaseUrl: url, cacheFolder, scratch };

test('the Iceberg tables show no snapshot dated years ahead, and none of another warehouse', async () => {
  const [ahead, foreign, newest] = [await exportForced(), await exportForced(), await exportForced()];
  await become(ahead, { snapshot_id: '20280101T000000Z-aaaaaa' });
  await become(foreign, { snapshot_id: '20261121T235959Z-bbbbbb', warehouse_id: 'of-others' });
  await become(newest, {});
  expect(await lake.snapshotIds()).toHaveLength(3);
  await showSnapshots(lake, places, { owner, add: true, newest });
  expect(await shown()).toEqual([newest]);
  // Sweeps, as an erasure does.
  const sweeping = { add: true, sweep: true, newest: undefined };
  await showSnapshots(lake, places, { owner, ...sweeping });
  expect(await shown()).toEqual([newest]);
  // Tags that an earlier release has shown.
  const others = { ...owner, warehouseId: 'of-others' };
  await showSnapshots(lake, places, { owner: others, ...sweeping });
  expect(await shown()).toEqual(['20261121T235959Z-bbbbbb']);
  await showSnapshots(lake, places, { owner, add: true, newest });
  expect(await shown()).toEqual([newest]);
});

async function shown(): Promise<string[]> {
  return Object.keys(await readIceberg(url, { reader: 'pyiceberg', tables: ['bills'] }));
}

async function exportForced(): Promise<string> {
  return (await exportNow({ force: true })).snapshotId;
}

/** Reduces the snapshot to one table, and gives it another ID or warehouse. */
async function become(id: string, changed: Record<string, string>): Promise<void> {
  const file = join(location, 'snapshots', id, '_manifest.json');
  const manifest = JSON.parse(await readFile(file, 'utf8')) as { tables: Record<string, unknown> };
  const { bills } = manifest.tables;
  await writeFile(file, JSON.stringify({ ...manifest, tables: { bills }, ...changed }));
  const { snapshot_id: name = id } = changed;
  await rename(join(location, 'snapshots', id), join(location, 'snapshots', name));
}
