import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { openLake } from '../../lake/open-lake.ts';
import { manifestSchema, sha256Of, type Manifest } from '../../lake/manifest.ts';
import { verifySnapshot } from '../../lake/verify-snapshot.ts';
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
import { createTestLake } from './export-of.ts';
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
    for (const row of stored)
      for (const { column } of unfit.filter(({ key: of }) => of.id === row.id)) row[column] = null;
    expect(kept).toEqual(stored);
  });
});

test('a value that does not fit is null in the file and listed in the manifest, digit by digit', () => {
  expect(manifest.unfit).toEqual([
    {
      table: 'bills',
      column: 'total_amount',
      key: { connection_id: connection, id: 'unfit' },
      value: '1.0000000001',
    },
    {
      table: 'bills',
      column: 'tax_amount',
      key: { connection_id: connection, id: 'unfit' },
      value: '100000000000000000000000000000',
    },
    {
      table: 'bills',
      column: 'currency_rate',
      key: { connection_id: connection, id: 'unfit' },
      value: '0.1234567890123',
    },
  ]);
});

test('types are the stable ones, in empty tables too', async () => {
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
  expect(found.map(({ id }) => id)).toEqual(['unfit', 'long', 'wide']);
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

test('no token, no body and nothing half done is in the lake', async () => {
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

/** Decimals without trailing zeros, times with microseconds: the same words on both sides. */
function inWords({ name, parquet }: { name: string; parquet: string }): string {
  const column = `"${name}"`;
  if (parquet.startsWith('DECIMAL'))
    return `regexp_replace(regexp_replace(${column}::text, '(\\.\\d*?)0+$', '\\1'), '\\.$', '') as ${column}`;
  if (parquet === 'TIMESTAMP WITH TIME ZONE')
    return `(extract(epoch from date_trunc('second', ${column}))::bigint)::text || '.' || (extract(microsecond from ${column})::bigint)::text as ${column}`;
  return `${column}::text as ${column}`;
}
