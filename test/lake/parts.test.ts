import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { PartSizes } from '../../activities/export/plan-parts.ts';
import { openDuckDb } from '../../lake/parquet/duck-db.ts';
import { eraseFromSnapshots } from '../../lake/snapshots/erase-from-snapshots.ts';
import type { ManifestFile } from '../../lake/manifest/manifest.ts';
import { openLake } from '../../lake/open-lake.ts';
import { readManifest } from '../../lake/manifest/pointer.ts';
import { listSnapshots } from '../../warehouse/snapshots/list-snapshots.ts';
import { verifySnapshot } from '../../lake/snapshots/verify-snapshot.ts';
import { bill, billLine, list } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { proofTest, some } from '../support/proof-test.ts';
import { rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { createTestLake, testWarehouseId as warehouseId } from './create-test-lake.ts';
import { readParquet } from './read-parquet.ts';
import { startS3Server } from './s3-server.ts';

const { warehouse, url } = await createTestDatabase();
const s3 = await startS3Server();
/** Small sizes, so that a few connections make many parts. */
const sizes: PartSizes = { rowsAlone: 20, rowsOfPiece: 50_000, rowsShared: 3, connectionsShared: 2 };
const connections: string[] = [];
let large: string;

beforeAll(async () => {
  // Fixed names, because a hash of them decides which share a part.
  for (let count = 0; count < 24; count += 1)
    connections.push(await addTestConnection(warehouse, `small-${String(count)}`));
  large = await addTestConnection(warehouse, 'large');
  for (const connectionId of connections)
    await land(warehouse, { connectionId, stream: 'bills', pages: [bills(3)] });
  await land(warehouse, { connectionId: large, stream: 'bills', pages: [bills(30)] });
});

test('the parts of a table hold all its rows: small connections share parts, and a large one has its own', async () => {
  const { exportNow, lake, filesOf, location } = await createLake();
  const { snapshotId } = await exportNow();
  const files = await filesOf(snapshotId, 'bills');
  expect(files.length).toBeGreaterThan(6);
  expect(files.map(({ path }) => path)).toEqual(
    files.map((_, index) => `bills/part-${String(index).padStart(5, '0')}.parquet`),
  );
  expect(files.filter(({ rows: count }) => count >= 30)).toHaveLength(1);
  expect((await filesOf(snapshotId, 'expenses')).map(({ path, rows: count }) => [path, count])).toEqual([
    ['expenses/part-00000.parquet', 0],
  ]);
  const held = await readParquet(
    join(location, 'snapshots', snapshotId),
    `select connection_id, count(*) as n, count(distinct filename) as parts from read_parquet('{lake}/bills/*.parquet', filename = true)
     group by connection_id order by connection_id`,
  );
  expect(held).toEqual(
    [...connections, large]
      .sort()
      .map((id) => ({ connection_id: id, n: id === large ? '30' : '3', parts: '1' })),
  );
  expect((await verifySnapshot(lake, { id: snapshotId, spillFolder: location })).problems).toEqual([]);
});

test.each(some(['a bucket', 'a folder']))(
  'an export to %s writes only the parts of connections that changed',
  async (where) => {
    const { exportNow, filesOf, lake } = await createLake(
      where === 'a bucket' ? `${s3.location}/moved` : undefined,
    );
    const first = await exportNow();
    await rows(
      warehouse,
      `update finance.bills set memo = coalesce(memo, '') || '!' where connection_id = $1 and id = 'b1'`,
      [connections[5]],
    );
    const second = await exportNow();
    const [before, after] = [
      await filesOf(first.snapshotId, 'bills'),
      await filesOf(second.snapshotId, 'bills'),
    ];
    const written = after.filter(({ since }) => since === second.snapshotId);
    expect(written).toHaveLength(1);
    const noted = (await listSnapshots(warehouse, { limit: 50 })).find(
      ({ snapshot_id: id }) => id === second.snapshotId,
    );
    expect(noted).toMatchObject({ bytes_added: second.bytesWritten });
    expect(noted!.parts_added).toBeLessThan(noted!.parts! / 2);
    expect(after.filter(({ since }) => since !== second.snapshotId)).toEqual(
      before.filter(({ path }) => path !== written[0]?.path),
    );
    expect(
      (await filesOf(second.snapshotId, 'bill_lines')).every(({ since }) => since === first.snapshotId),
    ).toBe(true);
    expect((await verifySnapshot(lake, { id: second.snapshotId, spillFolder: '/nowhere' })).problems).toEqual(
      [],
    );
  },
);

test('a part that two snapshots in a folder share is stored once', async () => {
  const { exportNow, filesOf, location } = await createLake();
  const first = await exportNow();
  await change(connections[1]);
  const second = await exportNow();
  const shared = (await filesOf(second.snapshotId, 'bill_lines'))[0];
  const inode = async (id: string): Promise<number> =>
    (await stat(join(location, 'snapshots', id, shared?.path ?? ''))).ino;
  expect(await inode(second.snapshotId)).toBe(await inode(first.snapshotId));
});

test('a part that was damaged since the last export is written again', async () => {
  const { exportNow, filesOf, lake, location } = await createLake();
  const first = await exportNow();
  const [damaged] = await filesOf(first.snapshotId, 'bill_lines');
  const path = join(location, 'snapshots', first.snapshotId, damaged?.path ?? '');
  const content = await readFile(path);
  content.writeUInt8(content.readUInt8(20) ^ 1, 20);
  await writeFile(path, content);
  await change(connections[2]);
  const second = await exportNow();
  const lines = await filesOf(second.snapshotId, 'bill_lines');
  expect(lines.filter(({ since }) => since === second.snapshotId).map((file) => file.path)).toEqual([
    damaged?.path,
  ]);
  expect((await verifySnapshot(lake, { id: second.snapshotId, spillFolder: location })).problems).toEqual([]);
});

test.each(some(['a bucket', 'a folder']))(
  'an export to %s keeps no file of a part that has lost another file',
  async (where) => {
    const { exportNow, filesOf, lake, scratch } = await createLake(
      where === 'a bucket' ? `${s3.location}/gone` : undefined,
    );
    const wide = await addTestConnection(warehouse);
    await rows(
      warehouse,
      `insert into finance.bill_lines (connection_id, bill_id, position, description, total_amount)
     select $1, 'b', i, repeat(md5(i::text), 20), i from generate_series(1, 50001) i`,
      [wide],
    );
    const first = await exportNow({ partBytes: 10_000 });
    const before = await filesOf(first.snapshotId, 'bill_lines');
    const [gone] = before.slice(-1);
    await lake.removeFile(`snapshots/${first.snapshotId}/${gone?.path ?? ''}`);
    await change(connections[3]);
    const { snapshotId } = await exportNow({ partBytes: 10_000_000 });
    expect((await verifySnapshot(lake, { id: snapshotId, spillFolder: scratch })).problems).toEqual([]);
    const after = await filesOf(snapshotId, 'bill_lines');
    expect(after.length).toBeLessThan(before.length);
    const found = await lake.filesIn(`snapshots/${snapshotId}/bill_lines`);
    expect(found.sort()).toEqual(after.map(({ path }) => path.slice('bill_lines/'.length)));
    await rows(warehouse, 'delete from finance.bill_lines where connection_id = $1', [wide]);
  },
);

proofTest(
  'an export reuses nothing from a snapshot that the database does not know, as after a restore',
  async () => {
    const { exportNow, filesOf } = await createLake();
    const first = await exportNow();
    await rows(warehouse, 'delete from sync.snapshots where snapshot_id = $1', [first.snapshotId]);
    const second = await exportNow();
    const files = await filesOf(second.snapshotId, 'bills');
    expect(files.every(({ since }) => since === second.snapshotId)).toBe(true);
  },
);

proofTest('--force writes every part anew', async () => {
  const { exportNow, filesOf } = await createLake();
  await exportNow();
  const second = await exportNow({ force: true });
  expect((await filesOf(second.snapshotId, 'bills')).every(({ since }) => since === second.snapshotId)).toBe(
    true,
  );
});

test('the manifest lists unfit values of reused parts too', async () => {
  const { exportNow, lake } = await createLake();
  await rows(
    warehouse,
    `update finance.bills set amount_due = 1.0000000001 where connection_id = $1 and id = 'b2'`,
    [connections[7]],
  );
  await exportNow();
  await change(connections[8]);
  const { snapshotId } = await exportNow();
  const unfit = { table: 'bills', column: 'amount_due', value: '1.0000000001', rounded: true };
  expect((await readManifest(lake, snapshotId))?.unfit).toEqual([
    { ...unfit, key: { connection_id: connections[7], id: 'b2' } },
  ]);
  await rows(warehouse, `update finance.bills set amount_due = 1 where connection_id = $1 and id = 'b2'`, [
    connections[7],
  ]);
});

test.each(some(['a bucket', 'a folder']))(
  'a record erased from snapshots in %s is in none of their files, even if they share a part',
  async (where) => {
    const { exportNow, filesOf, lake, scratch } = await createLake(
      where === 'a bucket' ? `${s3.location}/erased` : undefined,
    );
    const connectionId = connections[9] ?? '';
    await exportNow();
    await change(connections[10]);
    const second = await exportNow();
    const duckDb = await openDuckDb({ spillFolder: scratch });
    const erasure = { warehouseId, connectionId, id: 'b1', columns: { bills: 'id', bill_lines: 'bill_id' } };
    const rewritten = await eraseFromSnapshots(lake, duckDb, erasure);
    expect(rewritten.map(({ erased }) => erased)).toEqual([2, 2]);
    for (const { from, manifest } of rewritten) {
      await lake.removeSnapshot(from);
      const { problems } = await verifySnapshot(lake, { id: manifest.snapshot_id, spillFolder: scratch });
      expect(problems).toEqual([]);
    }
    expect(await eraseFromSnapshots(lake, duckDb, erasure)).toEqual([]);
    duckDb.close();
    const before = second.rows;
    expect(rewritten[1]?.manifest.rows).toBe(before - 2);
    const files = await filesOf(rewritten[1]?.manifest.snapshot_id ?? '', 'bills');
    expect(files.filter(({ content }) => content === undefined)).toHaveLength(1);
  },
);

/** Creates a lake, in a folder unless a location is given. */
async function createLake(location?: string) {
  const made = await createTestLake(url, { sizes, ...(location === undefined ? {} : { lake: location }) });
  const lake = await openLake({ location: made.location, scratch: `${made.scratch}-of-reader` });
  const filesOf = async (id: string, table: string): Promise<ManifestFile[]> =>
    (await readManifest(lake, id))?.tables[table]?.files ?? [];
  return { ...made, lake, filesOf };
}

function bills(count: number): string[] {
  return Array.from({ length: count }, (_, index) =>
    bill(`b${index + 1}`, { line_items: list(billLine({})) }),
  );
}

async function change(connectionId: string | undefined): Promise<void> {
  await rows(
    warehouse,
    `update finance.bills set memo = coalesce(memo, '') || '!' where connection_id = $1 and id = 'b1'`,
    [connectionId],
  );
}
