import { existsSync } from 'node:fs';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runExportProcess } from '../../activities/export/run-export-process.ts';
import { endOfExport } from '../../activities/finish-export.ts';
import { publicationLines } from '../../cli/commands/status/publication-lines.ts';
import { openLake } from '../../lake/open-lake.ts';
import type { Lake } from '../../lake/lake.ts';
import { manifestText, sha256Of } from '../../lake/manifest/manifest.ts';
import {
  manifestPath,
  movePointer,
  pointerPath,
  readManifest,
  readPointer,
} from '../../lake/manifest/pointer.ts';
import { verifySnapshot } from '../../lake/snapshots/verify-snapshot.ts';
import { removeConnection } from '../../warehouse/connections/remove-connection.ts';
import { readMartsStatus } from '../../warehouse/marts/read-marts-status.ts';
import { readSnapshotStatus } from '../../warehouse/snapshots/read-snapshot-status.ts';
import { waitingSessions } from '../support/blocked-session.ts';
import { allocation, bill, billLine, list } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { proofTest, some } from '../support/proof-test.ts';
import { rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { exportKilledBefore } from './export-killed-before.ts';
import { createTestLake } from './create-test-lake.ts';
import { readParquet } from './read-parquet.ts';

const { warehouse, url } = await createTestDatabase();
const connection = await addTestConnection(warehouse);
await land(warehouse, { connectionId: connection, stream: 'bills', pages: [[bill('b1'), bill('b2')]] });

test('an export is skipped when nothing has changed, and makes a snapshot after any change', async () => {
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

test('an added connection, or one removed with its data kept, causes a snapshot; a sync without changes does not', async () => {
  const { exportNow } = await createTestLake(url);
  await exportNow();
  await rows(warehouse, 'update sync.streams set last_success_at = now()');
  expect(await exportNow()).toMatchObject({ skipped: true });
  const connectionId = await addTestConnection(warehouse);
  expect(await exportNow(), 'added').toMatchObject({ skipped: false });
  await removeConnection(warehouse, { connectionId, keepData: true });
  expect(await exportNow(), 'removed').toMatchObject({ skipped: false });
  expect(await exportNow()).toMatchObject({ skipped: true });
});

test('a skipped export marks snapshots that the rule no longer keeps, and removes those marked for six hours', async () => {
  const { exportNow, jobOf, location } = await createTestLake(url);
  const first = (await exportNow({ force: true })).snapshotId;
  const second = (await exportNow({ force: true })).snapshotId;
  const last = (await exportNow({ force: true })).snapshotId;
  const keep = { last: 1, daily: 0, monthEnds: false };
  const skip = async (): Promise<void> => {
    expect(await exportNow({ keep })).toMatchObject({ skipped: true, snapshotId: last });
  };
  const marks = async (): Promise<Record<string, string>> => {
    const text = await readFile(join(location, 'retention.json'), 'utf8');
    return (JSON.parse(text) as { expired: Record<string, string> }).expired;
  };
  await skip();
  expect(Object.keys(await marks())).toEqual([first, second]);

  // Seven and eight hours later. Snapshots that the rule kept until less than six hours ago stay.
  const lake = await openLake({ location, scratch: location });
  for (const [id, hours] of [[first, 8] as const, [second, 7] as const]) {
    const takenAt = new Date(Date.now() - hours * 3_600_000).toISOString();
    const held = await readManifest(lake, id);
    if (held === undefined) throw new Error(`Snapshot ${id} has no manifest.`);
    const manifest = manifestText({ ...held, taken_at: takenAt });
    await writeFile(join(location, 'snapshots', id, '_manifest.json'), manifest);
  }
  const sevenHoursAgo = new Date(Date.now() - 7 * 3_600_000).toISOString();
  const expired = { [first]: sevenHoursAgo, [second]: sevenHoursAgo };
  await writeFile(join(location, 'retention.json'), JSON.stringify({ expired }));
  await exportKilledBefore(jobOf({ keep }), { operation: 'rename', path: '/\\.retention\\.json' });
  expect(Object.keys(await marks())).toEqual([first, second]);
  await skip();
  expect(await lake.snapshotIds()).toEqual([second, last]);
  expect(await marks()).toEqual({ [second]: sevenHoursAgo });
});

proofTest('an emptied lake is filled again although nothing has changed', async () => {
  const { exportNow, location } = await createTestLake(url);
  await exportNow();
  await rm(location, { recursive: true });
  expect(await exportNow()).toMatchObject({ skipped: false });
});

proofTest('an export reuses no file of a snapshot that a killed attempt published', async () => {
  const { exportNow, jobOf } = await createTestLake(url);
  await exportNow();
  await rows(warehouse, `update finance.bills set memo = memo || '?' where id = 'b1'`);
  const job = jobOf();
  await exportKilledBefore(job, { operation: 'rename', path: '/\\.latest\\.json' });
  expect(await exportNow(job)).toMatchObject({ snapshotId: job.snapshotId });
  const next = await exportNow();
  expect(next).toMatchObject({ skipped: false, bytesWritten: next.bytes });
  await rows(warehouse, `update finance.bills set memo = memo || '?' where id = 'b1'`);
  const last = await exportNow();
  expect(last.bytesWritten).toBeLessThan(last.bytes);
});

proofTest('a run publishes once, however often it is tried', async () => {
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

test('two simultaneous exports run one after the other, and the second has nothing to do', async () => {
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

test('a snapshot with a later time keeps the pointer, and the export says so; a time years ahead is ignored', async () => {
  const { exportNow, location, scratch } = await createTestLake(url);
  const taken = await exportNow();
  const lake = await openLake({ location, scratch });
  await sayTaken(lake, { location, id: taken.snapshotId, at: new Date(Date.now() + 3_600_000) });
  await rows(warehouse, `update finance.bills set memo = 'an hour before' where id = 'b1'`);
  expect(await exportNow()).toMatchObject({ skipped: false, isBehind: true });
  expect(await readPointer(lake)).toMatchObject({ snapshot_id: taken.snapshotId });

  await sayTaken(lake, { location, id: taken.snapshotId, at: new Date('9036-01-01') });
  await rows(warehouse, `update finance.bills set memo = 'long before' where id = 'b1'`);
  const next = await exportNow();
  expect(next).not.toHaveProperty('isBehind');
  expect(await readPointer(lake)).toMatchObject({ snapshot_id: next.snapshotId });
});

test('an export fails, and says what to do, if a clock ahead leaves readers with older rows; a late export does not fail', async () => {
  const { exportNow, jobOf, location, scratch } = await createTestLake(url);
  const lake = await openLake({ location, scratch });
  const change = (): Promise<unknown> => rows(warehouse, `update finance.bills set memo = memo || '+'`);
  const late = jobOf();
  await exportNow(late);
  await change();
  const { snapshotId: taken } = await exportNow();
  const afterwards = await exportNow(late);
  expect(afterwards).toMatchObject({ snapshotId: late.snapshotId, isBehind: true });
  expect(endOfExport(afterwards, location)).toMatchObject({ status: 'succeeded', failure: null });

  await sayTaken(lake, { location, id: taken, at: new Date(Date.now() + 11 * 3_600_000) });
  await change();
  expect(endOfExport(await exportNow(), location)).toMatchObject({
    status: 'failed',
    failure: expect.stringMatching(
      new RegExp(
        `^Published snapshot .* Readers stay with the older rows of snapshot ${taken}, because its time`,
      ),
    ) as string,
  });
  // Follows the advice of the message.
  await lake.removeSnapshot(taken);
  const repaired = await exportNow();
  expect(endOfExport(repaired, location)).toMatchObject({ status: 'succeeded' });
  expect(await readPointer(lake)).toMatchObject({ snapshot_id: repaired.snapshotId });
});

test('the status line of a snapshot whose time is ahead says by how much', async () => {
  await rows(
    warehouse,
    `insert into sync.snapshots (snapshot_id, run_id, lake, taken_at, rows, bytes, unfit, manifest_sha256, mark)
     values ('20991231T000000Z-aaaaaa', 'r', 'l', now() + interval '11 hours 1 minute', 0, 0, 0, '', '')`,
  );
  const [line] = publicationLines({
    snapshot: await readSnapshotStatus(warehouse),
    marts: await readMartsStatus(warehouse),
  });
  expect(line).toMatch(
    /^Snapshot: 20991231T000000Z-aaaaaa, whose time is 11 h ahead of the clock of Postgres/,
  );
  await rows(warehouse, `delete from sync.snapshots where run_id = 'r'`);
});

test('a pointer to a missing snapshot counts as damage, and is replaced', async () => {
  const { exportNow, location, scratch } = await createTestLake(url);
  const first = await exportNow();
  const lake = await openLake({ location, scratch });
  const pointer = { ...(await readPointer(lake))!, snapshot_id: lost, manifest: manifestPath(lost) };
  await writeFile(join(location, pointerPath), JSON.stringify(pointer));
  const next = await exportNow();
  expect(next).toMatchObject({ skipped: false, damage: `latest.json names ${lost}, which is not there` });
  expect(await readPointer(lake)).toMatchObject({ snapshot_id: next.snapshotId });

  for (const id of [first.snapshotId, next.snapshotId])
    await rm(join(location, 'snapshots', id), { recursive: true });
  const alone = await exportNow();
  await seesWhole(location, alone.snapshotId);
});

/** A snapshot that begins later than any existing one. */
const lost = '20991231T000000Z-0a1b2c';

/** Changes the time of a snapshot, as anyone who can write to the lake can. */
async function sayTaken(
  lake: Lake,
  { location, id, at }: { location: string; id: string; at: Date },
): Promise<void> {
  const manifest = { ...(await readManifest(lake, id)), taken_at: at.toISOString() };
  const text = JSON.stringify(manifest);
  await writeFile(join(location, manifestPath(id)), text);
  const pointer = { ...(await readPointer(lake)), manifest_sha256: sha256Of(text) };
  await writeFile(join(location, pointerPath), JSON.stringify(pointer));
}

test('a lake with snapshots of another warehouse is left alone', async () => {
  const { exportNow, location } = await createTestLake(url);
  const { snapshotId } = await exportNow();
  await expect(exportNow({ warehouseId: 'another' })).rejects.toThrow(/snapshots of another warehouse/);
  expect(await readdir(join(location, 'snapshots'))).toEqual([snapshotId]);
});

test('an export to a lake that cannot be written to says so', async () => {
  const { scratch } = await createTestLake(url);
  await writeFile(join(scratch, '..', 'file'), '');
  const { exportNow, location } = await createTestLake(url, { lake: join(scratch, '..', 'file', 'lake') });
  await expect(exportNow()).rejects.toThrow(`Cannot use the lake ${location}: ENOTDIR`);
});

proofTest(
  'an export killed while it reads leaves readers the previous snapshot, and the next export succeeds',
  async () => {
    const { exportNow, jobOf, location } = await createTestLake(url);
    const before = await exportNow();
    await rows(warehouse, `update finance.bills set memo = memo || '!' where id = 'b1'`);
    const { letGo } = await blockAccess('finance.bills');
    const killer = new AbortController();
    const killed = runExportProcess(jobOf(), { signal: killer.signal, onProgress: () => undefined });
    const failed = expect(killed).rejects.toThrow(/ended with SIGKILL/);
    await waitingSessions(url);
    killer.abort();
    await failed;
    await letGo();
    await seesWhole(location, before.snapshotId);
    const after = await exportNow();
    expect(after.skipped).toBe(false);
    await seesWhole(location, after.snapshotId);
  },
);

test.each(
  some([
    { operation: 'link', path: 'snapshots/[^/]+/expenses/part' },
    { operation: 'rename', path: '/\\.batch-\\d/part' },
    { operation: 'writeFile', path: '_manifest.json$' },
    { operation: 'writeFile', path: '_SUCCESS$' },
    { operation: 'rename', path: 'snapshots/[^/]+$' },
    { operation: 'writeFile', path: '/\\.latest\\.json' },
    { operation: 'rename', path: '/\\.latest\\.json' },
    { operation: 'rm', path: '/scratch$', time: 2 },
  ]),
)(
  'an export that is killed before $operation of $path is repaired, by its own next attempt or another run',
  async (moment) => {
    const { exportNow, jobOf, location } = await createTestLake(url);
    const before = await exportNow();
    await rows(warehouse, `update finance.bills set memo = memo || '!' where id = 'b1'`);
    const job = jobOf();
    await exportKilledBefore(job, moment);
    const named = await latestOf(location);
    // Nothing is seen before the pointer names it.
    expect(named).toBe(moment.operation === 'rm' ? job.snapshotId : before.snapshotId);
    await seesWhole(location, named);
    if (moment.operation === 'writeFile') {
      const { snapshotId } = await exportNow();
      await seesWhole(location, snapshotId);
    } else {
      expect(await exportNow(job)).toMatchObject({ skipped: false, snapshotId: job.snapshotId });
      await seesWhole(location, job.snapshotId);
    }
    expect((await readdir(location)).sort()).toEqual(['latest.json', 'snapshots']);
    expect((await readdir(join(location, 'snapshots'))).filter((name) => name.startsWith('.'))).toEqual([]);
  },
);

test('an export removes a half-written draft', async () => {
  const { exportNow, location } = await createTestLake(url);
  await exportNow();
  const leftover = join(location, 'snapshots', '.tmp-20200101T000000Z-abcdef');
  const { mkdir } = await import('node:fs/promises');
  await mkdir(leftover, { recursive: true });
  await writeFile(join(leftover, 'part'), 'half');
  await exportNow();
  expect(existsSync(leftover)).toBe(false);
});

test('a snapshot taken while pages land is consistent: every line and allocation matches its bill', async () => {
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
          linked_payments: list(allocation('p', { allocated_amount: String(page) })),
          last_synced_at: `"${new Date(Date.UTC(2024, 5, 1) + page * 1000).toISOString()}"`,
        }),
      );
      await land(warehouse, { connectionId: busy, stream: 'bills', pages: [records] });
    }
  })();
  try {
    for (let turn = 0; turn < 3; turn += 1) {
      const { snapshotId } = await exportNow();
      for (const [table, amount] of [
        ['bill_lines', 'total_amount'],
        ['bill_payment_allocations', 'allocated_amount'],
      ] as const) {
        const torn = await readParquet(
          join(location, 'snapshots', snapshotId),
          `select b.id, c.bill_id
           from read_parquet('{lake}/${table}/*.parquet') c
           full join read_parquet('{lake}/bills/*.parquet') b on b.connection_id = c.connection_id and b.id = c.bill_id
           where coalesce(b.connection_id, c.connection_id) = '${busy}'
             and (b.id is null or c.bill_id is null or b.total_amount <> c.${amount})`,
        );
        expect(torn, table).toEqual([]);
      }
    }
  } finally {
    stop.abort();
    await landing;
  }
});

async function latestOf(location: string): Promise<string> {
  const text = await readFile(join(location, 'latest.json'), 'utf8');
  return (JSON.parse(text) as { snapshot_id: string }).snapshot_id;
}

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

/** Expects that readers find this snapshot by the pointer, and that it is complete. */
async function seesWhole(location: string, snapshotId: string): Promise<void> {
  const lake = await openLake({ location, scratch: join(location, '..', 'verify') });
  expect(await readPointer(lake)).toMatchObject({ snapshot_id: snapshotId });
  const spillFolder = join(location, '..', 'spill');
  expect((await verifySnapshot(lake, { id: snapshotId, spillFolder })).problems).toEqual([]);
  for (const id of await lake.snapshotIds())
    expect(existsSync(join(location, 'snapshots', id, '_SUCCESS')), id).toBe(true);
}
