import { join } from 'node:path';
import pg from 'pg';
import { expect, test, vi } from 'vitest';
import type { PartSizes } from '../../activities/export/plan-parts.ts';
import { openDuckDb } from '../../lake/parquet/duck-db.ts';
import { eraseFromSnapshots } from '../../lake/snapshots/erase-from-snapshots.ts';
import type { ManifestFile } from '../../lake/manifest/manifest.ts';
import { openLake } from '../../lake/open-lake.ts';
import { readManifest } from '../../lake/manifest/pointer.ts';
import { verifySnapshot } from '../../lake/snapshots/verify-snapshot.ts';
import { bill, type Fields } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { row, rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { createTestLake, testWarehouseId as warehouseId } from './create-test-lake.ts';
import { readParquet } from './read-parquet.ts';

const { warehouse, url } = await createTestDatabase();
const sizes: PartSizes = { rowsAlone: 20, rowsOfPiece: 5, rowsShared: 3, connectionsShared: 2 };
const { location, scratch, exportNow } = await createTestLake(url, { sizes });
const lake = await openLake({ location, scratch: join(scratch, 'read') });
let version = 0;
const large = await addTestConnection(warehouse, 'large');
const small = await addTestConnection(warehouse, 'small');
await landBills(large, 1, 60);
await landBills(small, 1, 3);

test('the rows of a large connection are divided by record, and a changed record rewrites one piece', async () => {
  const { snapshotId: first } = await exportNow();
  await expectWhole(first);
  const before = await filesOf(first, 'bills');
  expect(before.length).toBeGreaterThanOrEqual(8);
  // The rows of its lines, which have the same key, follow it.
  expect(await filesOf(first, 'bill_lines')).toHaveLength(before.length);
  expect(await filesOf(first, 'expenses')).toHaveLength(1);

  await land(warehouse, {
    connectionId: large,
    stream: 'bills',
    pages: [[bill('b7', newer({ memo: '"changed"' }))]],
  });
  const { snapshotId: second } = await exportNow();
  await expectWhole(second);
  const written = (await filesOf(second, 'bills')).filter(({ since }) => since === second);
  expect(written).toHaveLength(1);
  expect(written[0]?.rows).toBeLessThan(30);
  expect((await exportNow()).skipped).toBe(true);
});

test('a connection that has grown or shrunk much is divided anew, and is whole', async () => {
  await landBills(large, 61, 500);
  const { snapshotId: grown } = await exportNow();
  await expectWhole(grown);
  expect((await filesOf(grown, 'bills')).length).toBeGreaterThan(40);
  await rows(
    warehouse,
    `delete from finance.bills where connection_id = $1 and substring(id from 2)::int > 60`,
    [large],
  );
  await rows(
    warehouse,
    `delete from finance.bill_lines where connection_id = $1 and substring(bill_id from 2)::int > 60`,
    [large],
  );
  const { snapshotId: shrunk } = await exportNow();
  await expectWhole(shrunk);
  expect((await filesOf(shrunk, 'bills')).length).toBeLessThan(20);
});

test('rows that are too long to be divided by DuckDB pass through piece by piece, and are read once more', async () => {
  const long = bill('b9', newer({ memo: `"${'x'.repeat(3_000_000)}"` }));
  await landBills(large, 10, 20, { memo: '"beside"' });
  await land(warehouse, { connectionId: large, stream: 'bills', pages: [[long]] });
  const query = vi.spyOn(pg.Client.prototype, 'query');
  const { snapshotId } = await exportNow({ force: true });
  const texts = query.mock.calls.map(([one]) => textOf(one));
  query.mockRestore();
  await expectWhole(snapshotId);
  expect((await filesOf(snapshotId, 'bills')).length).toBeGreaterThanOrEqual(8);
  const passes = texts.filter((text) =>
    /from finance\.bills where.*connection_id in \('large'\)/s.test(text),
  );
  expect(passes.map((text) => /^\s*(copy|select max|select count)/.exec(text)?.[1])).toEqual([
    'select count',
    'copy',
    'select max',
    'copy',
  ]);
  const memos = await held(snapshotId, 'bills', `connection_id = 'large' and memo is not null`, 'id, memo');
  expect(memos.map(({ id, memo }) => [id, memo?.length]).sort()).toEqual(
    [
      ...Array.from({ length: 11 }, (_, index) => [`b${10 + index}`, 'beside'.length]),
      ['b7', 'changed'.length],
      ['b9', 3_000_000],
    ].sort(),
  );
});

test('an unfit value is listed once, even if its piece is reused and another is not', async () => {
  const unfit = { total_amount: '0.10000000001' } as const;
  await landBills(large, 11, 40, unfit);
  const { snapshotId: first } = await exportNow();
  await expectUnfit(first, 30);
  await land(warehouse, {
    connectionId: large,
    stream: 'bills',
    pages: [[bill('b1', newer({ memo: '"again"' }))]],
  });
  const { snapshotId: second } = await exportNow();
  await expectUnfit(second, 30);
  await landBills(large, 11, 11, { total_amount: '1' });
  const { snapshotId: third } = await exportNow();
  await expectUnfit(third, 29);
  const written = (await filesOf(third, 'unfit_values')).filter(({ since }) => since === third);
  expect(written.length).toBeLessThanOrEqual(2);
});

test('what did not fit in a piece that is gone is listed no more', async () => {
  const connectionId = await addTestConnection(warehouse, 'losing');
  await landBills(connectionId, 1, 60);
  await exportNow();
  const { pieces } = await row(
    warehouse,
    `select array_length(string_to_array(mark, ' '), 1) as pieces from sync.table_weights
     where table_name = 'bills' and connection_id = $1`,
    [connectionId],
  );
  const [first, ...others] = await rows(
    warehouse,
    `select substring(id from 2)::int as bill from finance.bills
     where connection_id = $1 and hashtextextended(id, 0) & ($2::int - 1) = 0`,
    [connectionId, pieces],
  );
  const unfit = { total_amount: '0.10000000001' } as const;
  for (const { bill: number } of [first!, ...others])
    await landBills(connectionId, Number(number), Number(number), unfit);
  const isOfIt = ({ key }: { key: Record<string, unknown> }): boolean => key.connection_id === connectionId;
  const { snapshotId: before } = await exportNow();
  expect((await readManifest(lake, before))?.unfit.filter(isOfIt)).toHaveLength(others.length + 1);
  for (const [table, id] of [
    ['bills', 'id'],
    ['bill_lines', 'bill_id'],
  ] as const)
    await rows(
      warehouse,
      `delete from finance.${table} where connection_id = $1 and hashtextextended(${id}, 0) & ($2::int - 1) = 0`,
      [connectionId, pieces],
    );
  const { snapshotId: after } = await exportNow();
  await expectWhole(after);
  const { unfit: listed, unfit_values: count } = (await readManifest(lake, after))!;
  expect(listed.filter(isOfIt)).toEqual([]);
  expect(listed).toHaveLength(count!);
});

test('an erased record is in none of the pieces', async () => {
  const { snapshotId } = await exportNow();
  const duckDb = await openDuckDb({ spillFolder: scratch });
  const erasure = {
    warehouseId,
    connectionId: large,
    id: 'b12',
    columns: { bills: 'id', bill_lines: 'bill_id' },
  };
  const rewritten = await eraseFromSnapshots(lake, duckDb, erasure);
  duckDb.close();
  const id = rewritten.find(({ from }) => from === snapshotId)?.manifest.snapshot_id ?? '';
  expect((await verifySnapshot(lake, { id, spillFolder: scratch })).problems).toEqual([]);
  expect(await held(id, 'bills', `connection_id = 'large' and id = 'b12'`)).toEqual([]);
  expect(await held(id, 'bills', `connection_id = 'large' and id = 'b13'`)).toHaveLength(1);
});

/** Expects that each row of Postgres is in exactly one file, and nothing else is. */
async function expectWhole(snapshotId: string): Promise<void> {
  expect((await verifySnapshot(lake, { id: snapshotId, spillFolder: scratch })).problems).toEqual([]);
  for (const [table, key] of [
    ['bills', 'id'],
    ['bill_lines', 'bill_id'],
  ] as const) {
    const wanted = await rows(
      warehouse,
      `select connection_id, ${key} as id, total_amount::numeric(38, 9)::text as total_amount from finance.${table} order by 1, 2, 3`,
    );
    const found = await held(snapshotId, table, 'true', `connection_id, ${key} as id, total_amount`);
    expect(found).toEqual(wanted);
    const columns = await held(snapshotId, table, 'true', '*', 1);
    expect(Object.keys(columns[0] ?? {})).not.toContain('piece');
  }
}

async function expectUnfit(snapshotId: string, count: number): Promise<void> {
  const { unfit, unfit_values: all } = (await readManifest(lake, snapshotId))!;
  expect(all).toBe(count);
  expect(new Set(unfit.map(({ key }) => key.id)).size).toBe(count);
  expect(unfit).toHaveLength(count);
  const found = await held(snapshotId, 'unfit_values', `column_name = 'total_amount'`, 'record_id as id');
  expect(new Set(found.map(({ id }) => id)).size).toBe(count);
  expect(found).toHaveLength(count);
}

function held(
  id: string,
  table: string,
  where: string,
  what = '*',
  limit = 10_000,
): Promise<Record<string, string | null>[]> {
  return readParquet(
    join(location, 'snapshots', id),
    `select ${what} from read_parquet('{lake}/${table}/*.parquet') where ${where} order by all limit ${limit}`,
  );
}

async function filesOf(id: string, table: string): Promise<readonly ManifestFile[]> {
  return (await readManifest(lake, id))?.tables[table]?.files ?? [];
}

async function landBills(connectionId: string, from: number, to: number, fields: Fields = {}): Promise<void> {
  const page = Array.from({ length: to - from + 1 }, (_, index) => bill(`b${from + index}`, newer(fields)));
  await land(warehouse, { connectionId, stream: 'bills', pages: [page] });
}

/** Returns the fields with a newer time at each call. */
function newer(fields: Fields): Fields {
  version += 1;
  return { ...fields, last_synced_at: `"2024-02-01T00:00:00.${String(version).padStart(3, '0')}Z"` };
}

/** Of a query as the client is given it. */
function textOf(query: unknown): string {
  return typeof query === 'string' ? query : ((query as { text?: string }).text ?? '');
}
