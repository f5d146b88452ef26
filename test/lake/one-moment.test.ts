import { expect, test } from 'vitest';
import { openExportSession } from '../../warehouse/snapshots/open-snapshot.ts';
import { bill } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse, url } = await createTestDatabase();

test('every reader of an export sees the moment of its beginning, whatever is committed before it reads', async () => {
  const connectionId = await addTestConnection(warehouse);
  const session = await openExportSession(url);
  const snapshot = await session.openSnapshot({ readers: 2 });
  await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('later')]] });
  const seen = await Promise.all(
    snapshot.readers.map((reader) => reader.query<{ id: string }>('select id from finance.bills')),
  );
  expect(seen.map((result) => result.rows)).toEqual([[], []]);
  await snapshot.close();
  await session.close();
  expect(await rows(warehouse, 'select id from finance.bills')).toEqual([{ id: 'later' }]);
});
