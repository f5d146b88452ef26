import { execFile } from 'node:child_process';
import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { manifestText, type Manifest } from '../../lake/manifest/manifest.ts';
import { cacheFolder } from '../support/cache-folder.ts';
import { bill } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { proofTest } from '../support/proof-test.ts';
import { rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { createTestLake } from './create-test-lake.ts';
import { pythonWithReaders } from './python-with-readers.ts';
import { readIceberg } from './read-iceberg.ts';

const { warehouse, url } = await createTestDatabase();
const { exportNow, location } = await createTestLake(url, { iceberg: { add: true, cacheFolder } });
const connectionId = await addTestConnection(warehouse);

test('the main branch of an Iceberg table points to the newest rows, even if their snapshot has an older ID', async () => {
  const { snapshotId: before } = await exportNow();
  await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('b1')]] });
  // An ID as of a run that was reset.
  const { snapshotId } = await exportNow({ snapshotId: '20261121T110000Z-cccccc' });
  const refs = await refsOfBills();
  expect(refs[snapshotId]).not.toBe(refs[before]);
  expect(refs.main).toBe(refs[snapshotId]);
});

proofTest(
  'the main branch skips a snapshot whose manifest, or row in the list, has a time years ahead',
  async () => {
    const { snapshotId: before } = await exportNow({ force: true });
    await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('b2')]] });
    const planted = '20261121T123000Z-dddddd';
    await cp(join(location, 'snapshots', before), join(location, 'snapshots', planted), { recursive: true });
    const file = join(location, 'snapshots', planted, '_manifest.json');
    const manifest = JSON.parse(await readFile(file, 'utf8')) as Manifest;
    await writeFile(file, manifestText({ ...manifest, snapshot_id: planted, taken_at: ahead }));
    await listAsAhead(before);
    const { snapshotId, icebergProblem } = await exportNow();
    expect(icebergProblem).toBeUndefined();
    const refs = await refsOfBills();
    expect(refs[snapshotId]).not.toBe(refs[before]);
    expect(refs.main).toBe(refs[snapshotId]);
    expect(refs).not.toHaveProperty(planted);
    // Its manifest tells when that snapshot was taken.
    const listed = Object.keys(await readIceberg(url, { reader: 'pyiceberg', tables: ['bills'] }));
    expect(listed).toEqual(expect.arrayContaining([before, snapshotId]));
    expect(listed).not.toContain(planted);
    // A snapshot that an earlier release has shown, from a clock that was ahead.
    const ofBefore = join(location, 'snapshots', before, '_manifest.json');
    const shown = JSON.parse(await readFile(ofBefore, 'utf8')) as Manifest;
    await writeFile(ofBefore, manifestText({ ...shown, taken_at: ahead }));
    await listAsAhead(before);
    await exportNow({ force: true });
    expect(await refsOfBills()).not.toHaveProperty(before);
    expect(Object.keys(await readIceberg(url, { reader: 'pyiceberg', tables: ['bills'] }))).not.toContain(
      before,
    );
  },
);

const ahead = '2099-01-01T00:00:00Z';

/** Changes the list, as anyone who can write in the lake can. */
async function listAsAhead(snapshotId: string): Promise<void> {
  const folder = join(location, 'iceberg/finance/snapshots/data');
  const files = (await readdir(folder)).map((name) => join(folder, name));
  await promisify(execFile)(await pythonWithReaders(), ['-c', listAs, snapshotId, ahead, ...files]);
}

const listAs = `
import sys
from datetime import datetime
import pyarrow as pa, pyarrow.parquet as pq
snapshot_id, ahead, *files = sys.argv[1:]
for file in files:
    table = pq.read_table(file)
    rows = table.to_pylist()
    for row in rows:
        if row["snapshot_id"] == snapshot_id:
            row["taken_at"] = datetime.fromisoformat(ahead.replace("Z", "+00:00"))
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), file)
`;

/** The IDs of Iceberg's snapshots, by tag and branch. */
async function refsOfBills(): Promise<Record<string, number>> {
  const [table] = await rows(
    warehouse,
    `select metadata_location from iceberg.iceberg_tables where table_namespace = 'finance' and table_name = 'bills'`,
  );
  const metadata = await readFile(fileURLToPath(String(table?.metadata_location)), 'utf8');
  const { refs } = JSON.parse(metadata) as { refs: Record<string, { 'snapshot-id': number }> };
  return Object.fromEntries(Object.entries(refs).map(([name, ref]) => [name, ref['snapshot-id']]));
}
