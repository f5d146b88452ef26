import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDuckDb } from '../../lake/parquet/duck-db.ts';
import { eraseFromSnapshots } from '../../lake/snapshots/erase-from-snapshots.ts';
import { openLake } from '../../lake/open-lake.ts';
import { readManifest } from '../../lake/manifest/pointer.ts';
import { verifySnapshot } from '../../lake/snapshots/verify-snapshot.ts';
import { removeConnection } from '../../warehouse/connections/remove-connection.ts';
import { bill, billLine, list } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { isProof } from '../support/proof-test.ts';
import { rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { createTestLake, testWarehouseId as warehouseId } from './create-test-lake.ts';
import { readParquet } from './read-parquet.ts';

const { warehouse, url } = await createTestDatabase();
const { location, scratch, exportNow } = await createTestLake(url, {
  sizes: { rowsAlone: 20, rowsOfPiece: 50_000, rowsShared: 1, connectionsShared: 1 },
});
const lake = await openLake({ location, scratch: join(scratch, 'read') });
const honest = await addTestConnection(warehouse, 'honest');
const hostile = await addTestConnection(warehouse, 'hostile');

/** The number of bills with 180 lines, and of values with 5,000 digits in them: more than the 8 MB that a manifest lists. */
const many = isProof ? 80 : 20;
const digits = many * 180;

/** DuckDB's client drops the byte order mark at its beginning. */
const noisyId = '\ufeffnoisy';

const perConnection = `select connection_id, count(*) as n, max(length(value)) as longest, bool_or(is_rounded) as rounded
  from read_parquet('{lake}/unfit_values/*.parquet') group by connection_id order by connection_id`;

test('an export survives 18 MB of unfit values of 5,000 digits: their table has them all, the manifest the first', async () => {
  const noisy = bill(noisyId, { total_amount: '1.00000000001', line_items: list(billLine()) });
  await land(warehouse, { connectionId: honest, stream: 'bills', pages: [[noisy]] });
  const huge = Array.from({ length: 180 }, () => billLine({ total_amount: '1e4999' }));
  const page = Array.from({ length: many }, (_, index) => bill(`b${index}`, { line_items: list(...huge) }));
  await land(warehouse, { connectionId: hostile, stream: 'bills', pages: [page] });
  const first = await exportNow();
  expect(first).toMatchObject({ skipped: false, unfit: digits + 1 });
  expect(await held(first.snapshotId)).toEqual([
    { connection_id: 'honest', n: '1', longest: '13', rounded: 'true' },
    { connection_id: 'hostile', n: `${digits}`, longest: '5000', rounded: 'false' },
  ]);
  const manifest = await manifestOf(first.snapshotId);
  expect(manifest.unfit_values).toBe(digits + 1);
  expect(manifest.unfit.length).toBeGreaterThan(50);
  expect(manifest.unfit.reduce((sum, { value }) => sum + value.length, 0)).toBeLessThanOrEqual(8_000_000);
  const [listed] = await rows(warehouse, `select unfit::text from sync.snapshots where snapshot_id = $1`, [
    first.snapshotId,
  ]);
  expect(listed).toEqual({ unfit: `${digits + 1}` });
  expect(await verifySnapshot(lake, { id: first.snapshotId, spillFolder: scratch })).toMatchObject({
    problems: [],
  });
});

test('unchanged unfit values are reused, and enter the manifest when there is room again', async () => {
  const before = await manifestOf((await exportNow({ force: true })).snapshotId);
  await land(warehouse, { connectionId: honest, stream: 'bills', pages: [[bill('other')]] });
  const second = await exportNow();
  const manifest = await manifestOf(second.snapshotId);
  expect(manifest.unfit_values).toBe(digits + 1);
  const kept = manifest.tables.unfit_values?.files.filter(({ since }) => since === before.snapshot_id) ?? [];
  expect(kept.map((file) => file.rows)).toEqual(expect.arrayContaining([digits]));
  await rows(warehouse, `delete from finance.bill_lines where bill_id not in ('${noisyId}', 'b7')`);
  const third = await exportNow();
  const after = await manifestOf(third.snapshotId);
  expect(after.unfit_values).toBe(181);
  expect(after.unfit.map(({ table, column, key, rounded }) => [table, column, key, rounded])).toEqual([
    ['bills', 'total_amount', { connection_id: 'honest', id: noisyId }, true],
    ...Array.from({ length: 180 }, (_, position) => [
      'bill_lines',
      'total_amount',
      { connection_id: 'hostile', bill_id: 'b7', position },
      false,
    ]),
  ]);
});

test('an erased record is neither in the table of unfit values nor in the list of the manifest', async () => {
  const { snapshotId } = await exportNow({ force: true });
  const duckDb = await openDuckDb({ spillFolder: scratch });
  const erasure = {
    warehouseId,
    connectionId: hostile,
    id: 'b7',
    columns: { bills: 'id', bill_lines: 'bill_id' },
  };
  const rewritten = await eraseFromSnapshots(lake, duckDb, erasure);
  duckDb.close();
  const newest = rewritten.find(({ from }) => from === snapshotId)?.manifest;
  expect(newest).toMatchObject({ unfit_values: 1, unfit: [{ table: 'bills', key: { id: noisyId } }] });
  expect((await held(newest?.snapshot_id ?? '')).map(({ connection_id }) => connection_id)).toEqual([
    'honest',
  ]);
});

test('a manifest lists no unfit values of a connection that is gone, though the part of those that stay is kept', async () => {
  const alone = await createTestLake(url, {
    sizes: { rowsAlone: 3, rowsOfPiece: 100, rowsShared: 1_000, connectionsShared: 4 },
  });
  const [small, large] = [await addTestConnection(warehouse), await addTestConnection(warehouse)];
  const page = ['a', 'b', 'c', 'd'].map((id) => bill(id, { total_amount: '3866.7799999999997' }));
  await land(warehouse, { connectionId: small, stream: 'bills', pages: [[bill('fits')]] });
  await land(warehouse, { connectionId: large, stream: 'bills', pages: [page] });
  for (const connectionId of [honest, hostile])
    await removeConnection(warehouse, { connectionId, keepData: false });
  const other = await openLake({ location: alone.location, scratch: join(alone.scratch, 'read') });
  const before = await alone.exportNow();
  expect((await readManifest(other, before.snapshotId))?.unfit).toHaveLength(4);
  await removeConnection(warehouse, { connectionId: large, keepData: false });
  const { snapshotId: id } = await alone.exportNow();
  const manifest = await readManifest(other, id);
  expect(manifest).toMatchObject({ unfit: [], tables: { bills: { rows: 1 }, unfit_values: { rows: 0 } } });
  const verified = await verifySnapshot(other, { id, spillFolder: alone.scratch });
  expect(verified.problems).toEqual([]);
});

test('an empty table of unfit values still has a file', async () => {
  await rows(warehouse, 'delete from finance.bill_lines');
  await rows(warehouse, 'delete from finance.bills');
  const { snapshotId, unfit } = await exportNow();
  expect(unfit).toBe(0);
  expect(await held(snapshotId)).toEqual([]);
  const table = (await manifestOf(snapshotId)).tables.unfit_values;
  expect(table?.files.map(({ path }) => path)).toEqual(['unfit_values/part-00000.parquet']);
});

function held(snapshotId: string): Promise<Record<string, string | null>[]> {
  return readParquet(join(location, 'snapshots', snapshotId), perConnection);
}

async function manifestOf(
  snapshotId: string,
): Promise<NonNullable<Awaited<ReturnType<typeof readManifest>>>> {
  const manifest = await readManifest(lake, snapshotId);
  if (manifest === undefined) throw new Error('There is no manifest.');
  return manifest;
}
