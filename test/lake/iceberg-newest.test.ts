import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { cacheFolder } from '../support/cache-folder.ts';
import { bill } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { createTestLake } from './export-of.ts';

const { warehouse, url } = await createTestDatabase();
const { exportNow } = await createTestLake(url, { iceberg: { add: true, cacheFolder } });

test('the branch main of Iceberg tables is at the newest rows, though the ID of their snapshot is older', async () => {
  const connectionId = await addTestConnection(warehouse);
  const { snapshotId: before } = await exportNow();
  await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('b1')]] });
  // As of a run that was reset.
  const { snapshotId } = await exportNow({ snapshotId: '20261121T110000Z-cccccc' });
  const [table] = await rows(
    warehouse,
    `select metadata_location from iceberg.iceberg_tables where table_namespace = 'finance' and table_name = 'bills'`,
  );
  const metadata = await readFile(fileURLToPath(String(table?.metadata_location)), 'utf8');
  const { refs } = JSON.parse(metadata) as { refs: Record<string, { 'snapshot-id': number }> };
  expect(refs[snapshotId]?.['snapshot-id']).not.toBe(refs[before]?.['snapshot-id']);
  expect(refs.main?.['snapshot-id']).toBe(refs[snapshotId]?.['snapshot-id']);
});
