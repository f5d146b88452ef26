import { expect, test } from 'vitest';
import { inTransaction } from '../../warehouse/transactions/in-transaction.ts';
import { openWarehouse, type Warehouse } from '../../warehouse/open-warehouse.ts';
import { withSessions } from '../../warehouse/transactions/with-sessions.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { url } = await createTestDatabase();
const write = `update sync.settings set name = name`;

const works: [string, (warehouse: Warehouse) => Promise<unknown>][] = [
  ['a transaction', ({ pool }) => inTransaction(pool, ({ client }) => client.query(write))],
  [
    'a statement of a run that goes on past no failover',
    (warehouse) => withSessions(warehouse, () => warehouse.pool.connect()).pool.query(write),
  ],
];

test.each(works)('%s refused by a read-only session succeeds in a new session', async (_, work) => {
  const warehouse = openWarehouse({ url, connections: 1 });
  // The state of a session that a proxy has left on a primary that is a standby now.
  await warehouse.pool.query('set session characteristics as transaction read only');
  await expect(work(warehouse)).rejects.toMatchObject({ code: '25006' });
  await work(warehouse);
  await warehouse.close();
});
