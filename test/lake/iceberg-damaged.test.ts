import { readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { showSnapshots } from '../../iceberg/show-snapshots.ts';
import { openLake } from '../../lake/open-lake.ts';
import { readManifest } from '../../lake/manifest/pointer.ts';
import { cacheFolder } from '../support/cache-folder.ts';
import { bill } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { createTestLake } from './create-test-lake.ts';
import { manifestSeen, readIceberg } from './read-iceberg.ts';

const { warehouse, url } = await createTestDatabase();
const { exportNow, location, scratch, owner } = await createTestLake(url);
const lake = await openLake({ location, scratch });
const iceberg = { add: true, cacheFolder };
const connectionId = await addTestConnection(warehouse);
await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('b1')]] });

test('a snapshot with a damaged file or an unreadable manifest is not in the Iceberg tables, and each export names it', async () => {
  const [cut, unread, whole] = [await exportChanged(), await exportChanged(), await exportChanged()];
  await truncate(join(location, 'snapshots', cut, 'bills/part-00000.parquet'), 100);
  await writeFile(join(location, 'snapshots', unread, '_manifest.json'), '{}');
  for (const expected of [{ skipped: true }, { skipped: true }]) {
    const exported = await exportNow({ iceberg });
    expect(exported).toMatchObject({ ...expected, snapshotId: whole });
    expect(exported.icebergProblem).toContain(
      `The Iceberg tables do not show ${cut}, ${unread}: files there`,
    );
    expect(await shown()).toEqual([whole]);
  }
  for (const id of [cut, unread]) await lake.removeSnapshot(id);
  expect(await exportNow({ iceberg })).not.toHaveProperty('icebergProblem');
});

test('a lost data file of Iceberg tables is restored by the next export; one of older snapshots, by the next erasure', async () => {
  const before = await exportChanged();
  await exportNow({ iceberg });
  const newest = await exportChanged();
  expect(await exportNow({ iceberg })).toMatchObject({ skipped: true, snapshotId: newest });
  await lose(newest);
  expect(await exportNow({ iceberg })).toMatchObject({ skipped: true });
  await expectWhole();
  await lose(before);
  const places = { databaseUrl: url, cacheFolder, scratch: join(scratch, 'iceberg') };
  await showSnapshots(lake, places, { owner, add: true, sweep: true, newest: undefined });
  await expectWhole();
});

async function exportChanged(): Promise<string> {
  await rows(warehouse, `update finance.bills set memo = coalesce(memo, '') || '!'`);
  return (await exportNow()).snapshotId;
}

/** Removes a file, as a storage rule or a wrong prefix would. */
async function lose(id: string): Promise<void> {
  const [file] = (await readManifest(lake, id))!.tables.bills!.files;
  await rm(join(location, 'iceberg/finance/bills/data', `${file!.sha256}.parquet`));
}

async function shown(): Promise<string[]> {
  return Object.keys(await readIceberg(url, { reader: 'pyiceberg', tables: ['bills'] })).sort();
}

/** Expects that every snapshot can be read in the tables, and that they have no other files. */
async function expectWhole(): Promise<void> {
  const ids = await lake.snapshotIds();
  const manifests = await Promise.all(ids.map(async (id) => (await readManifest(lake, id))!));
  const seen = await readIceberg(url, { reader: 'pyiceberg', tables: ['bills'] });
  expect(seen).toMatchObject(
    Object.fromEntries(manifests.map((one) => [one.snapshot_id, manifestSeen(one, ['bills'])])),
  );
  const named = manifests.flatMap(({ tables }) =>
    tables.bills!.files.map(({ sha256 }) => `${sha256}.parquet`),
  );
  const there = await readdir(join(location, 'iceberg/finance/bills/data'));
  expect(there.sort()).toEqual([...new Set(named)].sort());
}
