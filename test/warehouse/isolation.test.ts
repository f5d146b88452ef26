import { expect, test } from 'vitest';
import { inTransaction } from '../../warehouse/transactions/in-transaction.ts';
import { migrate } from '../../warehouse/schema/migrate.ts';
import { openWarehouse } from '../../warehouse/open-warehouse.ts';
import { row } from '../support/rows.ts';
import { createTestDatabase } from '../support/test-database.ts';

test.each(['serializable', 'repeatable read'])(
  'transactions are read committed even if the database default is %s',
  async (level) => {
    const { warehouse, url } = await createTestDatabase();
    await setForDatabase(warehouse, `default_transaction_isolation = '${level}'`);
    const set = openWarehouse({ url, connections: 2 });
    try {
      expect(await row(set, 'show default_transaction_isolation')).toEqual({
        default_transaction_isolation: level,
      });
      const seen = await inTransaction(set.pool, async ({ client }) => {
        const { rows } = await client.query<{ transaction_isolation: string }>('show transaction_isolation');
        return rows;
      });
      expect(seen).toEqual([{ transaction_isolation: 'read committed' }]);
    } finally {
      await set.close();
    }
  },
);

test('a database with standard_conforming_strings off can be migrated', async () => {
  const { warehouse, url } = await createTestDatabase('template template0');
  await setForDatabase(warehouse, 'standard_conforming_strings = off');
  const set = openWarehouse({ url, connections: 2 });
  try {
    await migrate(set);
    expect(await row(set, 'select count(*)::int as bills from finance.bills')).toEqual({ bills: 0 });
  } finally {
    await set.close();
  }
});

async function setForDatabase(warehouse: Parameters<typeof row>[0], setting: string): Promise<void> {
  const { name } = await row(warehouse, 'select quote_ident(current_database()) as name');
  await warehouse.pool.query(`alter database ${String(name)} set ${setting}`);
}
