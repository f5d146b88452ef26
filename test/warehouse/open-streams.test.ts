import { expect, test } from 'vitest';
import { openWarehouse } from '../../warehouse/open-warehouse.ts';
import { expense } from '../support/finance-records.ts';
import { land, openPass } from '../support/land.ts';
import { rowsLookedAt } from '../support/rows-looked-at.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { url } = await createTestDatabase();
/** Has one session, so that its statistics can be asked for. */
const warehouse = openWarehouse({ url, connections: 1 });

test('a sync of refunds does not scan the expenses of a company without refunds', async () => {
  const connectionId = await addTestConnection(warehouse);
  const expenses = Array.from({ length: 1_000 }, (_, place) => expense(`expense-${place}`));
  await land(warehouse, { connectionId, stream: 'expenses', pages: [expenses] });
  await land(warehouse, { connectionId, stream: 'refunds', pages: [[]] });
  const opened = await rowsLookedAt(warehouse, 'finance.expenses', () =>
    openPass(warehouse, { connectionId, stream: 'refunds' }),
  );
  expect(opened.found.taken).toMatchObject({ state: 'open', neverAnswered: false });
  expect(opened.looked).toBe(0);
});

test('a stream without a row counts as answered if one of its records is held', async () => {
  const connectionId = await addTestConnection(warehouse);
  await land(warehouse, { connectionId, stream: 'expenses', pages: [[expense('kept')]] });
  await warehouse.pool.query('delete from sync.passes where connection_id = $1', [connectionId]);
  await warehouse.pool.query('delete from sync.run_streams where connection_id = $1', [connectionId]);
  await warehouse.pool.query('delete from sync.streams where connection_id = $1', [connectionId]);
  const known = async (stream: string): Promise<unknown> =>
    (await openPass(warehouse, { connectionId, stream })).taken;
  expect(await known('expenses')).toMatchObject({ state: 'open', neverAnswered: false });
  expect(await known('refunds')).toMatchObject({ state: 'open', neverAnswered: true });
});
