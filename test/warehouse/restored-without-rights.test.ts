import { expect, test } from 'vitest';
import { migrate } from '../../warehouse/schema/migrate.ts';
import { row } from '../support/rows.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse } = await createTestDatabase();

test('a migration restores read access to the marts after a restore without privileges', async () => {
  await warehouse.pool.query(`
    create schema marts_a;
    create table marts_a.bills (connection_id text not null, id text not null);
    create view marts.bills as select * from marts_a.bills;
    insert into sync.settings (name, value) values ('marts_schema', 'marts_a');
    revoke all on marts_a.bills from public, daybook_reader`);
  expect(await readerReads()).toEqual({ reads: false });
  await migrate(warehouse);
  expect(await readerReads()).toEqual({ reads: true });
});

function readerReads(): Promise<Record<string, unknown>> {
  return row(
    warehouse,
    `select has_table_privilege('daybook_reader', 'marts_a.bills', 'select')
       and has_table_privilege('daybook_reader', 'marts.bills', 'select') as reads`,
  );
}
