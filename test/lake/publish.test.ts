import { existsSync } from 'node:fs';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runExportProcess } from '../../activities/export/run-export-process.ts';
import { openLake } from '../../lake/open-lake.ts';
import { movePointer, readManifest, readPointer } from '../../lake/pointer.ts';
import { verifySnapshot } from '../../lake/verify-snapshot.ts';
import { waitingSessions } from '../support/blocked-session.ts';
import { bill, billLine, list } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { row, rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { createTestLake } from './export-of.ts';
import { readParquet } from './read-parquet.ts';
import { eventually } from '../embedded/eventually.ts';

const { warehouse, url } = await createTestDatabase();
const connection = await addTestConnection(warehouse);
await land(warehouse, { connectionId: connection, stream: 'bills', pages: [[bill('b1'), bill('b2')]] });

test('a snapshot is skipped when nothing has changed, and made again after any change', async () => {
  const { exportNow } = await createTestLake(url);
  const first = await exportNow();
  expect(first).toMatchObject({ skipped: false, unfit: 0 });
  expect(await exportNow()).toMatchObject({ skipped: true, snapshotId: first.snapshotId });
  for (const change of [
    `update finance.bills set last_synced_at = last_synced_at + interval '1 s' where id = 'b1'`,
    `update finance.bill_lines set description = 'other' where bill_id = 'b1'`,
    `delete from finance.bill_lines where bill_id = 'b2'`,
  ]) {
    await rows(warehouse, change);
    expect(await exportNow(), change).toMatchObject({ skipped: false });
    expect(await exportNow(), change).toMatchObject({ skipped: true });
  }
});

test('a lake that was emptied is filled again although nothing has changed', async () => {
  const { exportNow, location } = await createTestLake(url);
  await exportNow();
  await rm(location, { recursive: true });
  expect(await exportNow()).toMatchObject({ skipped: false });
});

test('the same run publishes once, however often it is tried', async () => {
  const { exportNow, jobOf, location } = await createTestLake(url);
  const job = jobOf();
  const first = await exportNow(job);
  const manifest = await readFile(join(location, 'snapshots', first.snapshotId, '_manifest.json'), 'utf8');
  await rows(warehouse, `update finance.bills set memo = 'changed meanwhile' where id = 'b1'`);
  expect(await exportNow(job)).toEqual(first);
  expect(await readdir(join(location, 'snapshots'))).toEqual([first.snapshotId]);
  expect(await readFile(join(location, 'snapshots', first.snapshotId, '_manifest.json'), 'utf8')).toBe(
    manifest,
  );
});

test('an attempt that died between snapshot and pointer is completed by the next one', async () => {
  const { exportNow, jobOf, location } = await createTestLake(url);
  const job = jobOf();
  const { snapshotId } = await exportNow(job);
  await rm(join(location, 'latest.json'));
  await rows(warehouse, 'delete from sync.snapshots where snapshot_id = $1', [snapshotId]);
  await exportNow(job);
  expect(JSON.parse(await readFile(join(location, 'latest.json'), 'utf8'))).toMatchObject({
    snapshot_id: snapshotId,
  });
  expect(
    await row(warehouse, 'select snapshot_id from sync.snapshots where run_id = $1', [job.runId]),
  ).toEqual({
    snapshot_id: snapshotId,
  });
});

test('two exports at once come one after the other, and the second has nothing to do', async () => {
  const { exportNow } = await createTestLake(url);
  const both = await Promise.all([exportNow(), exportNow()]);
  expect(both.map(({ skipped }) => skipped).sort()).toEqual([false, true]);
});

test('an older snapshot never takes the pointer from a newer one', async () => {
  const { exportNow, location, scratch } = await createTestLake(url);
  const older = await exportNow();
  await rows(warehouse, `update finance.bills set memo = 'newer' where id = 'b1'`);
  const newer = await exportNow();
  const lake = await openLake({ location, scratch });
  const manifest = await readManifest(lake, older.snapshotId);
  expect(await movePointer(lake, manifest!)).toBe(false);
  expect(await readPointer(lake)).toMatchObject({ snapshot_id: newer.snapshotId });
});

test('a lake with snapshots of another warehouse is left alone', async () => {
  const { exportNow, location } = await createTestLake(url);
  const { snapshotId } = await exportNow();
  await expect(exportNow({ warehouseId: 'another' })).rejects.toThrow(/snapshots of another warehouse/);
  expect(await readdir(join(location, 'snapshots'))).toEqual([snapshotId]);
});

test('a lake that may not be written is said to be so', async () => {
  const { scratch } = await createTestLake(url);
  await writeFile(join(scratch, '..', 'file'), '');
  const { exportNow, location } = await createTestLake(url, { lake: join(scratch, '..', 'file', 'lake') });
  await expect(exportNow()).rejects.toThrow(`The lake ${location} refuses: ENOTDIR`);
});

test('an export that is killed while it reads leaves nothing behind that the next one does not remove', async () => {
  const { exportNow, jobOf, location } = await createTestLake(url);
  const before = await exportNow();
  await rows(warehouse, `update finance.bills set memo = memo || '!' where id = 'b1'`);
  const { letGo } = await blockAccess('finance.subscriptions');
  const killer = new AbortController();
  const killed = runExportProcess(jobOf(), { signal: killer.signal, onProgress: () => undefined });
  const failed = expect(killed).rejects.toThrow(/ended by SIGKILL/);
  await waitingSessions(url);
  killer.abort();
  await failed;
  await letGo();
  await seesWhole(location, before.snapshotId);
  const after = await exportNow();
  expect(after.skipped).toBe(false);
  await seesWhole(location, after.snapshotId);
});

test.each(['_manifest.json', '_SUCCESS'])(
  'an export that is killed when %s was just written is repaired by the next attempt',
  async (file) => {
    const { exportNow, jobOf, location } = await createTestLake(url);
    const before = await exportNow();
    await rows(warehouse, `update finance.bills set memo = memo || '!' where id = 'b1'`);
    const job = jobOf();
    const killer = new AbortController();
    const ended = runExportProcess(job, { signal: killer.signal, onProgress: () => undefined }).catch(
      () => undefined,
    );
    const folders = [`.tmp-${job.snapshotId}`, job.snapshotId].map((name) =>
      join(location, 'snapshots', name),
    );
    await eventually(() =>
      Promise.resolve(folders.some((folder) => existsSync(join(folder, file))) ? true : undefined),
    );
    killer.abort();
    await ended;
    // Whatever the kill hit: readers see the old snapshot or the new one, whole.
    const named = JSON.parse(await readFile(join(location, 'latest.json'), 'utf8')) as {
      snapshot_id: string;
    };
    expect([before.snapshotId, job.snapshotId]).toContain(named.snapshot_id);
    await seesWhole(location, named.snapshot_id);
    const after = await exportNow(job);
    expect(after).toMatchObject({ skipped: false, snapshotId: job.snapshotId });
    await seesWhole(location, job.snapshotId);
  },
);

test('what was left half written is no snapshot for anybody, and is removed', async () => {
  const { exportNow, location } = await createTestLake(url);
  await exportNow();
  const leftover = join(location, 'snapshots', '.tmp-20200101T000000Z-abcdef');
  const { mkdir } = await import('node:fs/promises');
  await mkdir(leftover, { recursive: true });
  await writeFile(join(leftover, 'part'), 'half');
  await exportNow();
  expect(existsSync(leftover)).toBe(false);
});

test('a snapshot taken while pages land is consistent: every line has its bill', async () => {
  const { exportNow, location } = await createTestLake(url);
  const busy = await addTestConnection(warehouse);
  const stop = new AbortController();
  const landing = (async () => {
    for (let page = 0; !stop.signal.aborted; page += 1) {
      const lines = list(
        ...Array.from({ length: 1 + (page % 5) }, () => billLine({ total_amount: String(page) })),
      );
      const records = Array.from({ length: 20 }, (_, index) =>
        bill(`bill-${index}`, {
          total_amount: String(page),
          line_items: lines,
          last_synced_at: `"${new Date(Date.UTC(2024, 5, 1) + page * 1000).toISOString()}"`,
        }),
      );
      await land(warehouse, { connectionId: busy, stream: 'bills', pages: [records] });
    }
  })();
  try {
    for (let turn = 0; turn < 3; turn += 1) {
      const { snapshotId } = await exportNow();
      const torn = await readParquet(
        join(location, 'snapshots', snapshotId),
        `select b.id, l.bill_id, b.total_amount, l.total_amount
         from read_parquet('{lake}/bill_lines/*.parquet') l
         full join read_parquet('{lake}/bills/*.parquet') b on b.connection_id = l.connection_id and b.id = l.bill_id
         where coalesce(b.connection_id, l.connection_id) = '${busy}'
           and (b.id is null or l.bill_id is null or b.total_amount <> l.total_amount)`,
      );
      expect(torn).toEqual([]);
    }
  } finally {
    stop.abort();
    await landing;
  }
});

async function blockAccess(table: string): Promise<{ letGo: () => Promise<void> }> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('begin');
  await client.query(`lock table ${table} in access exclusive mode`);
  return {
    letGo: async () => {
      await client.end();
    },
  };
}

/** Readers find this snapshot by the pointer, and it is whole. */
async function seesWhole(location: string, snapshotId: string): Promise<void> {
  const lake = await openLake({ location, scratch: join(location, '..', 'verify') });
  expect(await readPointer(lake)).toMatchObject({ snapshot_id: snapshotId });
  const spillFolder = join(location, '..', 'spill');
  expect((await verifySnapshot(lake, { id: snapshotId, spillFolder })).problems).toEqual([]);
  for (const id of await lake.snapshotIds())
    expect(existsSync(join(location, 'snapshots', id, '_SUCCESS')), id).toBe(true);
}
