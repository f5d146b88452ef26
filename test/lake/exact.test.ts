import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { openLake } from '../../lake/open-lake.ts';
import { manifestSchema, sha256Of, type Manifest } from '../../lake/manifest/manifest.ts';
import { verifySnapshot } from '../../lake/snapshots/verify-snapshot.ts';
import { snapshotTables } from '../../warehouse/snapshots/snapshot-tables.ts';
import {
  allocation,
  bill,
  billLine,
  customer,
  expense,
  item,
  list,
  subscription,
  text,
} from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { createTestLake } from './create-test-lake.ts';
import { readParquet } from './read-parquet.ts';

const { warehouse, url } = await createTestDatabase();
const lake = await createTestLake(url);
let connection: string;
let folder: string;
let manifest: Manifest;

beforeAll(async () => {
  connection = await addTestConnection(warehouse);
  const nasty = text('a "quoted", text\r\nof two lines; \\N \\. \t , ünïcödé 🧾 ');
  await land(warehouse, {
    connectionId: connection,
    stream: 'bills',
    pages: [
      [
        bill('wide', {
          total_amount: '123456789012345678.123456789',
          amount_due: '-0.000000001',
          sub_total: '99999999999999999999999999999.999999999',
          currency_rate: '"1.123456789012"',
          memo: nasty,
          document_number: '""',
          line_items: list(billLine({ description: nasty }), billLine({ item: 'null' })),
          linked_payments: list(allocation('p1'), allocation('p2', { allocated_date: 'null' })),
        }),
        bill('long', { memo: text('x'.repeat(3_000_000)) }),
        bill('noisy', {
          amount_due: '3866.7799999999997',
          total_amount: '0.0000000005',
          sub_total: '-0.0000000005',
          tax_amount: '99999999999999999999999999999.9999999994',
          total_discount: '99999999999999999999999999999.9999999995',
          currency_rate: '"0.1234567890125"',
          line_items: list(
            billLine({
              total_amount: '12.345678901234',
              item: '{"id": "i", "quantity": 1.0000000005, "unit_amount": 0.0000000000005}',
            }),
          ),
          linked_payments: list(allocation('p1', { allocated_amount: '1000.2999999999999' })),
          issue_date: '"2023-12-30T00:00:00.000Z"',
        }),
        bill('unfit', {
          total_amount: '1.0000000001',
          tax_amount: '100000000000000000000000000000',
          sub_total: '2.500000000000',
          currency_rate: '"0.1234567890123"',
          issue_date: '"2023-12-31T00:00:00.000Z"',
        }),
      ],
    ],
  });
  await land(warehouse, { connectionId: connection, stream: 'expenses', pages: [[expense('e')]] });
  await land(warehouse, {
    connectionId: connection,
    stream: 'customers',
    pages: [[customer('c', { phone: '""' })]],
  });
  await land(warehouse, { connectionId: connection, stream: 'items', pages: [[item('i')]] });
  await land(warehouse, { connectionId: connection, stream: 'subscriptions', pages: [[subscription('s')]] });
  const { snapshotId } = await lake.exportNow();
  folder = join(lake.location, 'snapshots', snapshotId);
  manifest = manifestSchema.parse(JSON.parse(await readFile(join(folder, '_manifest.json'), 'utf8')));
});

describe('every value of every table is in the lake as it is in Postgres', () => {
  test.each(snapshotTables)('$name', async ({ name, from, columns, key }) => {
    const unfit = manifest.unfit.filter(({ table }) => table === name);
    const stored = await rows(
      warehouse,
      `select ${columns.map((column) => inWords(column)).join(', ')} from ${from} order by ${key.join(', ')}`,
    );
    const kept = await readParquet(
      folder,
      `select ${columns.map((column) => inWords(column)).join(', ')} from read_parquet('{lake}/${name}/*.parquet') order by ${key.join(', ')}`,
    );
    const named = (of: Record<string, unknown>): string => key.map((name) => String(of[name])).join(' ');
    for (const row of stored)
      for (const { column } of unfit.filter((one) => named(one.key) === named(row)))
        row[column] = inTheFile[`${name}.${column} ${String(row[column])}`] ?? null;
    expect(kept).toEqual(stored);
  });
});

test('the manifest lists every value that does not fit its type, with all its digits, and whether it was rounded', () => {
  const listed = manifest.unfit.map(({ table, column, key, value, rounded }) => {
    const { connection_id, ...place } = key;
    expect(connection_id).toBe(connection);
    return [`${table}.${column}`, Object.values(place).join(' '), value, rounded];
  });
  expect(listed).toEqual([
    ['bills.amount_due', 'noisy', '3866.7799999999997', true],
    ['bills.total_amount', 'noisy', '0.0000000005', true],
    ['bills.total_amount', 'unfit', '1.0000000001', true],
    ['bills.sub_total', 'noisy', '-0.0000000005', true],
    ['bills.tax_amount', 'noisy', '99999999999999999999999999999.9999999994', true],
    ['bills.tax_amount', 'unfit', '100000000000000000000000000000', false],
    ['bills.total_discount', 'noisy', '99999999999999999999999999999.9999999995', false],
    ['bills.currency_rate', 'noisy', '0.1234567890125', true],
    ['bills.currency_rate', 'unfit', '0.1234567890123', true],
    ['bill_lines.total_amount', 'noisy 0', '12.345678901234', true],
    ['bill_lines.item_quantity', 'noisy 0', '1.0000000005', true],
    ['bill_lines.item_unit_amount', 'noisy 0', '0.0000000000005', true],
    ['bill_payment_allocations.allocated_amount', 'noisy 0', '1000.2999999999999', true],
  ]);
});

test('every table has the stable column types, an empty one too', async () => {
  for (const { name, columns } of snapshotTables) {
    const described = await readParquet(
      folder,
      `describe select * from read_parquet('{lake}/${name}/*.parquet')`,
    );
    expect(Object.fromEntries(described.map((row) => [row.column_name, row.column_type]))).toEqual(
      Object.fromEntries(columns.map((column) => [column.name, column.parquet])),
    );
  }
  const types = Object.fromEntries(
    snapshotTables
      .find(({ name }) => name === 'subscription_items')
      ?.columns.map(({ name, parquet }) => [name, parquet]) ?? [],
  );
  expect(types).toMatchObject({
    position: 'BIGINT',
    interval_count: 'BIGINT',
    quantity: 'DECIMAL(38,9)',
    amount: 'DECIMAL(38,9)',
    unit_amount: 'DECIMAL(38,12)',
  });
  expect(manifest.tables.bill_credit_memos?.rows).toBe(0);
  expect(manifest.tables.bill_credit_memos?.files).toHaveLength(1);
});

test('rows are sorted by connection and date', async () => {
  const found = await readParquet(folder, `select id from read_parquet('{lake}/bills/part-00000.parquet')`);
  expect(found.map(({ id }) => id)).toEqual(['noisy', 'unfit', 'long', 'wide']);
});

test('the pointer names the manifest by a relative path and its SHA-256', async () => {
  const pointer: unknown = JSON.parse(await readFile(join(lake.location, 'latest.json'), 'utf8'));
  const text = await readFile(join(folder, '_manifest.json'), 'utf8');
  expect(pointer).toEqual({
    snapshot_id: manifest.snapshot_id,
    manifest: `snapshots/${manifest.snapshot_id}/_manifest.json`,
    manifest_sha256: sha256Of(text),
  });
  expect(manifest.snapshot_id).toMatch(/^\d{8}T\d{6}Z-[0-9a-f]{6}$/);
  expect(await readdir(folder)).toEqual(expect.arrayContaining(['_SUCCESS', '_manifest.json', 'bills']));
  expect(manifest.watermarks).toContainEqual({
    connection_id: connection,
    stream: 'bills',
    watermark: '2024-01-16T00:00:00.000000Z',
  });
});

test('the lake holds no column of tokens or payloads, and nothing unfinished', async () => {
  expect(await readdir(lake.location)).toEqual(['latest.json', 'snapshots']);
  expect(await readdir(join(lake.location, 'snapshots'))).toEqual([manifest.snapshot_id]);
  const names = snapshotTables.flatMap(({ columns }) => columns.map(({ name }) => name));
  expect(names.filter((name) => /token|payload|sealed|_content_hash/.test(name))).toEqual([]);
});

test('a snapshot that was just published verifies; one with a changed byte does not', async () => {
  const opened = await openLake({ location: lake.location, scratch: lake.scratch });
  const verify = () => verifySnapshot(opened, { id: manifest.snapshot_id, spillFolder: lake.scratch });
  expect((await verify()).problems).toEqual([]);
  const file = join(folder, 'items', 'part-00000.parquet');
  const bytes = await readFile(file);
  const { writeFile } = await import('node:fs/promises');
  await writeFile(
    file,
    Buffer.concat([bytes.subarray(0, 100), Buffer.from([bytes[100]! ^ 1]), bytes.subarray(101)]),
  );
  expect((await verify()).problems).toEqual(['items/part-00000.parquet has another SHA-256']);
  await writeFile(file, bytes);
  expect((await verify()).problems).toEqual([]);
});

/** The values that are left after rounding. Values not listed here are removed. */
const inTheFile: Readonly<Record<string, string>> = {
  'bills.amount_due 3866.7799999999997': '3866.78',
  'bills.total_amount 0.0000000005': '0.000000001',
  'bills.total_amount 1.0000000001': '1',
  'bills.sub_total -0.0000000005': '-0.000000001',
  'bills.tax_amount 99999999999999999999999999999.9999999994': '99999999999999999999999999999.999999999',
  'bills.currency_rate 0.1234567890125': '0.123456789013',
  'bills.currency_rate 0.1234567890123': '0.123456789012',
  'bill_lines.total_amount 12.345678901234': '12.345678901',
  'bill_lines.item_quantity 1.0000000005': '1.000000001',
  'bill_lines.item_unit_amount 0.0000000000005': '0.000000000001',
  'bill_payment_allocations.allocated_amount 1000.2999999999999': '1000.3',
};

/** Expressions that print alike on both sides: decimals without trailing zeros, times with microseconds. */
function inWords({ name, parquet }: { name: string; parquet: string }): string {
  const column = `"${name}"`;
  if (parquet.startsWith('DECIMAL'))
    return `regexp_replace(regexp_replace(${column}::text, '(\\.\\d*?)0+$', '\\1'), '\\.$', '') as ${column}`;
  if (parquet === 'TIMESTAMP WITH TIME ZONE')
    return `(extract(epoch from date_trunc('second', ${column}))::bigint)::text || '.' || (extract(microsecond from ${column})::bigint)::text as ${column}`;
  return `${column}::text as ${column}`;
}
