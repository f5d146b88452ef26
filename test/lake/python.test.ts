import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { openLake } from '../../lake/open-lake.ts';
import { verifySnapshot } from '../../lake/snapshots/verify-snapshot.ts';
import { snapshotTables } from '../../warehouse/snapshots/snapshot-tables.ts';
import { unfitTable } from '../../warehouse/snapshots/unfit-table.ts';
import { bill, subscription } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { createTestLake } from './create-test-lake.ts';
import { pythonEnvironment } from '../support/python-environment.ts';
import { readParquet } from './read-parquet.ts';

const { warehouse, url } = await createTestDatabase();
const { exportNow, location, scratch } = await createTestLake(url);
const python = join(await pythonEnvironment(), 'bin', 'python');
let folder: string;

beforeAll(async () => {
  const connectionId = await addTestConnection(warehouse);
  const exact = bill('b', {
    total_amount: '123456789012345678.123456789',
    amount_due: '-0.000000001',
    currency_rate: '"1.123456789012"',
    last_synced_at: '"2024-01-16T01:02:03.456Z"',
  });
  await land(warehouse, { connectionId, stream: 'bills', pages: [[exact]] });
  await land(warehouse, { connectionId, stream: 'subscriptions', pages: [[subscription('s')]] });
  const { snapshotId } = await exportNow();
  folder = join(location, 'snapshots', snapshotId);
});

test('Python reads every digit, day and microsecond as Postgres has them', async () => {
  const read = `
import json, sys, pyarrow.parquet as pq
row = pq.read_table(sys.argv[1] + '/bills').to_pylist()[0]
print(json.dumps({name: str(row[name]) for name in ['total_amount', 'amount_due', 'currency_rate', 'issue_date', 'last_synced_at', 'memo']}))
`;
  expect(await run(read)).toEqual({
    total_amount: '123456789012345678.123456789',
    amount_due: '-1E-9',
    currency_rate: '1.123456789012',
    issue_date: '2024-01-15',
    last_synced_at: '2024-01-16 01:02:03.456000+00:00',
    memo: 'None',
  });
});

test('Python sees the stable types in every table, empty ones too', async () => {
  const read = `
import glob, json, os, sys, pyarrow.parquet as pq
tables = sorted(name for name in os.listdir(sys.argv[1]) if not name.startswith('_'))
print(json.dumps({table: {field.name: str(field.type) for field in pq.read_schema(glob.glob(f'{sys.argv[1]}/{table}/*.parquet')[0])} for table in tables}))
`;
  const expected = [...snapshotTables, unfitTable].map(({ name, columns }) => [
    name,
    Object.fromEntries(columns.map((column) => [column.name, arrowTypes[column.parquet]])),
  ]);
  expect(await run(read)).toEqual(Object.fromEntries(expected));
});

test('a table of several parts is whole and sorted across parts, and is one table for DuckDB and Python', async () => {
  await rows(
    warehouse,
    `insert into finance.bill_lines (connection_id, bill_id, position, description, total_amount)
     select 'a-connection', 'b', i, repeat(md5(i::text), 60), round(i / 7.0, 9) from generate_series(1, 20000) i`,
  );
  const { snapshotId } = await exportNow({ partBytes: 10_000 });
  const lake = await openLake({ location, scratch });
  const verified = await verifySnapshot(lake, { id: snapshotId, spillFolder: scratch });
  expect(verified.problems).toEqual([]);
  const files = verified.manifest?.tables.bill_lines?.files ?? [];
  expect(files.length).toBeGreaterThan(2);
  expect(files.map(({ path }) => path)).toEqual(
    files.map((_, index) => `bill_lines/part-0000${index}.parquet`),
  );
  folder = join(location, 'snapshots', snapshotId);
  const [expected] = await rows(
    warehouse,
    `select count(*)::text as count, sum(total_amount::numeric(38,9))::text as sum from finance.bill_lines`,
  );
  expect(
    await readParquet(
      folder,
      `select count(*) as count, sum(total_amount) as sum from read_parquet('{lake}/bill_lines/*.parquet')`,
    ),
  ).toEqual([expected]);
  const read = `
import json, sys, pyarrow.compute as pc, pyarrow.parquet as pq
table = pq.read_table(sys.argv[1] + '/bill_lines')
positions = [position for connection, position in zip(table['connection_id'].to_pylist(), table['position'].to_pylist()) if connection == 'a-connection']
print(json.dumps({'count': str(table.num_rows), 'sum': str(pc.sum(table['total_amount'])), 'sorted': positions == list(range(1, 20001))}))
`;
  expect(await run(read)).toEqual({ ...expected, sorted: true });
});

const arrowTypes = {
  VARCHAR: 'string',
  BOOLEAN: 'bool',
  BIGINT: 'int64',
  DATE: 'date32[day]',
  'TIMESTAMP WITH TIME ZONE': 'timestamp[us, tz=UTC]',
  'DECIMAL(38,9)': 'decimal128(38, 9)',
  'DECIMAL(38,12)': 'decimal128(38, 12)',
};

async function run(program: string): Promise<unknown> {
  const { stdout } = await promisify(execFile)(python, ['-c', program, folder]);
  return JSON.parse(stdout);
}
