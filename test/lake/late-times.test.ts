import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isTime } from '../../warehouse/snapshots/held-value.ts';
import { snapshotTables } from '../../warehouse/snapshots/snapshot-tables.ts';
import {
  allocation,
  bill,
  billCreditMemo,
  customer,
  expense,
  item,
  list,
  subscription,
} from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { createTestLake } from './create-test-lake.ts';
import { readIceberg } from './read-iceberg.ts';
import { readParquet } from './read-parquet.ts';
import { cacheFolder } from '../support/cache-folder.ts';

const { warehouse, url } = await createTestDatabase();
const { exportNow, location } = await createTestLake(url, {
  iceberg: { add: true, cacheFolder },
  sizes: { rowsAlone: 20, rowsOfPiece: 50_000, rowsShared: 1, connectionsShared: 1 },
});
const other = await addTestConnection(warehouse, 'other');
const late = await addTestConnection(warehouse, 'late');

/** Its year has four digits as written, and five in UTC. */
const time = '"9999-12-31T23:59:59-01:00"';
const day = '"9999-12-31"';
const times = { created_at: time, updated_at: time, last_synced_at: time };

const records = {
  bills: bill('b', {
    ...times,
    issue_date: day,
    due_date: day,
    linked_payments: list(allocation('p', { allocated_date: day })),
  }),
  expenses: expense('e', { ...times, transaction_date: day }),
  bill_credit_memos: billCreditMemo('m', {
    ...times,
    issue_date: day,
    linked_bills: list(allocation('b', { allocated_date: day })),
  }),
  customers: customer('c', times),
  items: item('i', times),
  subscriptions: subscription('s', times),
};

test('a time whose year is 10000 in UTC is null in the files and listed as unfit, and Iceberg readers see all companies', async () => {
  for (const connectionId of [other, late])
    await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('b1')]] });
  await exportNow();
  await land(warehouse, { connectionId: other, stream: 'bills', pages: [[bill('b2')]] });
  for (const [stream, record] of Object.entries(records))
    await land(warehouse, { connectionId: late, stream, pages: [[record]] });
  for (const change of changesOfOurs) await rows(warehouse, change, [late]);
  const { snapshotId, tables, icebergTables, icebergProblem } = await exportNow();
  expect(icebergProblem).toBeUndefined();
  expect(icebergTables).toBe(tables);
  const folder = join(location, 'snapshots', snapshotId);
  const unfit = `select table_name, column_name, count(*) as n from read_parquet('{lake}/unfit_values/*.parquet') group by all order by all`;
  const expected = await rows(warehouse, lateValues);
  expect(new Set(expected.map((one) => one.table_name))).toEqual(new Set(tablesWithTimes));
  expect(await readParquet(folder, unfit)).toEqual(expected);
  const dates = `select id, updated_at, issue_date::varchar as issued from read_parquet('{lake}/bills/*.parquet') where id = 'b'`;
  expect(await readParquet(folder, dates)).toEqual([{ id: 'b', updated_at: null, issued: '9999-12-31' }]);
  const seen = await readIceberg(url, { reader: 'pyiceberg', tables: ['bills'] });
  expect(seen[snapshotId]).toMatchObject({ bills: { rows: 4 } });
});

/** Changes that no record can cause: Postgres's clock may be wrong, and an earlier release may have accepted such dates. */
const changesOfOurs = [
  `update finance.bills set due_date = '10000-01-01' where connection_id = $1`,
  `update finance.bill_payment_allocations set allocated_date = '10000-01-01' where connection_id = $1`,
  `insert into sync.tombstones (connection_id, resource, record_id, version, deleted_at, source)
   values ($1, 'bills', 'gone', now(), '10000-01-01', 'event')`,
  `update sync.streams set watermark = '10000-01-01', last_success_at = '10000-01-01' where connection_id = $1`,
  `update history.record_versions set recorded_at = '10000-01-01' where connection_id = $1`,
];

const tablesWithTimes = [
  ...[
    'bills',
    'bill_payment_allocations',
    'expenses',
    'bill_credit_memos',
    'customers',
    'items',
    'subscriptions',
  ],
  ...['connections', 'streams', 'deleted_records', 'subscription_item_versions'],
];

const lateValues = `${snapshotTables
  .flatMap(({ name, from, columns }) =>
    columns.filter(isTime).map(
      (column) => `select '${name}' as table_name, '${column.name}' as column_name, count(*)::text as n
       from ${from} where "${column.name}" >= '10000-01-01' having count(*) > 0`,
    ),
  )
  .join(' union all ')} order by 1, 2`;
