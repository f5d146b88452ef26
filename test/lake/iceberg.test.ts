import { execFile } from 'node:child_process';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { showSnapshots } from '../../iceberg/show-snapshots.ts';
import { openDuckDb } from '../../lake/parquet/duck-db.ts';
import { eraseFromSnapshots } from '../../lake/snapshots/erase-from-snapshots.ts';
import { openLake } from '../../lake/open-lake.ts';
import { readManifest } from '../../lake/manifest/pointer.ts';
import { bill, billLine, list, text } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { proofTest, some } from '../support/proof-test.ts';
import { rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { blocksOf } from '../docs/blocks-of.ts';
import { createTestLake, testWarehouseId as warehouseId } from './create-test-lake.ts';
import { showMart } from './show-mart.ts';
import {
  icebergReaders,
  manifestSeen,
  readIceberg,
  runWithReaders,
  type IcebergSeen,
} from './read-iceberg.ts';
import { cacheFolder } from '../support/cache-folder.ts';

const { warehouse, url } = await createTestDatabase();
const { exportNow, location, scratch, owner } = await createTestLake(url, {
  iceberg: { add: true, cacheFolder },
});
const lake = await openLake({ location, scratch });
const places = { databaseUrl: url, cacheFolder, scratch: join(scratch, 'iceberg') };
const connectionId = await addTestConnection(warehouse);
await land(warehouse, {
  connectionId,
  stream: 'bills',
  pages: [
    [
      bill('wide', {
        total_amount: '123456789012345678.123456789',
        amount_due: '-0.000000001',
        currency_rate: '"1.123456789012"',
        memo: text('a "quoted" text, ünïcödé 🧾'),
        line_items: list(billLine({ description: text('planted-description') }), billLine({})),
      }),
      bill('b2', { total_amount: '99999999999999999999.000000001' }),
    ],
  ],
});

test('PyIceberg, DuckDB and, if installed, Spark read exactly the rows and sums of the manifest from every table', async () => {
  const exported = await exportNow();
  expect(exported.icebergTables).toBe(exported.tables);
  const seen = await Promise.all(icebergReaders.map((reader) => readIceberg(url, { reader })));
  for (const one of seen) expect(one).toMatchObject(await manifestsSeen());
  const [python, duckDb] = seen;
  expect(python![exported.snapshotId]!.bills!.columns).toMatchObject({
    total_amount: 'decimal128(38, 9)',
    currency_rate: 'decimal128(38, 12)',
    issue_date: 'date32[day]',
    last_synced_at: 'timestamp[us, tz=UTC]',
    memo: 'string',
  });
  expect(duckDb![exported.snapshotId]!.bill_lines!.columns).toMatchObject({ position: 'BIGINT' });
});

test('the Python examples of docs/connect/iceberg.md print what the page says', async () => {
  const blocks = blocksOf(join(import.meta.dirname, '../../docs/connect/iceberg.md'));
  const program = blocks
    .filter(({ language, note }) => language === 'python' && note === '')
    .map(({ text }) => text)
    .join('\n');
  const expected = [...program.matchAll(/^print\(.*\) {2}# (.*)$/gm)].map(([, said]) => said);
  expect(expected).toHaveLength(3);
  expect(await runWithReaders(url, program)).toEqual(expected);
});

test('a repeated export commits nothing, and a table whose rows are the same is only tagged', async () => {
  const before = await catalogOf();
  await exportNow();
  expect(await catalogOf()).toEqual(before);
  await rows(warehouse, `update finance.bills set memo = 'other' where id = 'b2'`);
  await exportNow();
  await expectShown(await lake.snapshotIds());
  const [lines] = await filesOf('bill_lines', 'data');
  expect(await filesOf('bill_lines', 'data')).toEqual([lines]);
});

test('the data files of an Iceberg table are those of the snapshots, and take no space of their own', async () => {
  const { stdout } = await promisify(execFile)('find', [
    join(location, 'iceberg'),
    '-name',
    '*.parquet',
    '-path',
    '*/bills/data/*',
    '-links',
    '-2',
  ]);
  expect(stdout).toBe('');
});

proofTest(
  'an export killed between tables shows readers no partial snapshot, and the next export completes it',
  async () => {
    const before = await readIceberg(url, { reader: 'pyiceberg', tables: few });
    await rows(warehouse, `update finance.bills set memo = 'killed' where id = 'b2'`);
    const { snapshotId } = await exportNow({ iceberg: { add: false, cacheFolder } });
    const killer = new AbortController();
    const committed: string[] = [];
    const killed = showSnapshots(
      lake,
      { ...places, signal: killer.signal },
      {
        owner,
        add: true,
        newest: snapshotId,
        onCommitted(table) {
          committed.push(table);
          if (committed.length === 3) killer.abort();
        },
      },
    );
    await expect(killed).rejects.toThrow();
    expect(committed.length).toBeLessThan(10);
    expect(await readIceberg(url, { reader: 'pyiceberg', tables: few })).toEqual(before);
    expect(await exportNow()).toMatchObject({ skipped: true, snapshotId });
    await expectShown(await lake.snapshotIds());
  },
);

proofTest(
  'an export killed before the commit of a table leaves the table as it was, and the next export completes it',
  async () => {
    await rows(warehouse, `update finance.bills set memo = 'held' where id = 'b2'`);
    const { snapshotId } = await exportNow({ iceberg: { add: false, cacheFolder } });
    await rows(
      warehouse,
      `create function pg_temp_hold() returns trigger language plpgsql as $$ begin perform pg_sleep(60); return new; end $$;
     create trigger hold before update on iceberg.iceberg_tables for each row when (new.table_name = 'bills')
       execute function pg_temp_hold()`,
    );
    const killer = new AbortController();
    const killed = showSnapshots(
      lake,
      { ...places, signal: killer.signal },
      { owner, add: true, newest: snapshotId },
    );
    const held = `select count(*)::int as held from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`;
    await expect.poll(async () => (await rows(warehouse, held))[0], { timeout: 30_000 }).toEqual({ held: 1 });
    killer.abort();
    await expect(killed).rejects.toThrow();
    await rows(
      warehouse,
      `select pg_terminate_backend(pid) from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()`,
    );
    await rows(warehouse, `drop function pg_temp_hold cascade`);
    expect(Object.keys(await readIceberg(url, { reader: 'pyiceberg', tables: few }))).not.toContain(
      snapshotId,
    );
    await exportNow();
    await expectShown(await lake.snapshotIds());
  },
);

test('an export or an erasure that has lost its lock takes no newer snapshot out of the Iceberg tables', async () => {
  await rows(warehouse, `update finance.bills set memo = 'newer' where id = 'b2'`);
  const { snapshotId } = await exportNow();
  const before = await catalogOf();
  const older = (await lake.snapshotIds()).filter((id) => id !== snapshotId);
  const stalled = { ...lake, snapshotIds: () => Promise.resolve(older) };
  const showing = { owner, add: true, newest: undefined, sweep: true } as const;
  const lost = { ...stalled, assertHeld: () => Promise.reject(new Error('The lock is lost.')) };
  await expect(showSnapshots(lost, places, showing)).rejects.toThrow('The lock is lost.');
  expect(await catalogOf()).toEqual(before);
  // With its lock, that is what it would have done.
  await showSnapshots(stalled, places, showing);
  expect(await catalogOf()).not.toEqual(before);
  await exportNow();
  await expectShown(await lake.snapshotIds());
});

test('a removed snapshot leaves the Iceberg tables, together with the files that no other snapshot needs', async () => {
  const ids = await lake.snapshotIds();
  for (const id of ids.slice(0, -1)) await lake.removeSnapshot(id);
  await exportNow({ iceberg: { add: false, cacheFolder } });
  await expectShown(ids.slice(-1));
  const { tables } = (await readManifest(lake, ids.at(-1)!))!;
  expect(await filesOf('bills', 'data')).toEqual(
    tables.bills!.files.map(({ sha256 }) => `${sha256}.parquet`).sort(),
  );
  expect((await filesOf('bills', 'metadata')).filter((name) => name.startsWith('snap-'))).toHaveLength(1);
});

test.each(
  some([
    {
      lost: 'the catalog',
      lose: () => rows(warehouse, 'delete from iceberg.iceberg_tables'),
    },
    {
      lost: 'the list of snapshots',
      lose: () => rows(warehouse, `delete from iceberg.iceberg_tables where table_name = 'snapshots'`),
    },
    {
      lost: 'the metadata of a table',
      lose: () => rm(join(location, 'iceberg/finance/bills/metadata'), { recursive: true }),
    },
    {
      lost: 'everything in the lake',
      lose: () => rm(join(location, 'iceberg'), { recursive: true }),
    },
  ]),
)('the next export restores the Iceberg tables after $lost was lost', async ({ lose }) => {
  await lose();
  expect(await exportNow()).toMatchObject({ skipped: true });
  await expectShown(await lake.snapshotIds());
});

proofTest('an export brings a catalog from an older backup up to date', async () => {
  const backup = await rows(warehouse, 'select * from iceberg.iceberg_tables');
  for (const memo of ['one', 'two']) {
    await rows(warehouse, `update finance.bills set memo = '${memo}' where id = 'b2'`);
    await exportNow();
  }
  const [first] = await lake.snapshotIds();
  await lake.removeSnapshot(first!);
  await exportNow();
  await restore(backup);
  await exportNow();
  await expectShown(await lake.snapshotIds());
});

proofTest('content erased from the snapshots is in no data file of the Iceberg tables', async () => {
  await rows(warehouse, `update finance.bills set memo = 'planted-memo' where id = 'b2'`);
  await exportNow();
  await rows(warehouse, `update finance.bills set memo = 'planted-memo again' where id = 'b2'`);
  await exportNow();
  const duckDb = await openDuckDb({ spillFolder: scratch });
  const columns = { bills: 'id', bill_lines: 'bill_id' };
  const erased = await eraseFromSnapshots(lake, duckDb, { warehouseId, connectionId, id: 'b2', columns });
  expect(erased.length).toBeGreaterThan(2);
  for (const { from } of erased) await lake.removeSnapshot(from);
  await showSnapshots(lake, places, { owner, add: true, sweep: true, newest: undefined });
  duckDb.close();
  await expectShown(await lake.snapshotIds());
  const left = (await filesOf('bills', 'data')).length;
  const manifests = await Promise.all((await lake.snapshotIds()).map((id) => readManifest(lake, id)));
  const named = new Set(manifests.flatMap((one) => one!.tables.bills!.files.map(({ sha256 }) => sha256)));
  expect(left).toBe(named.size);
  const seen = await readIceberg(url, { reader: 'duckdb', tables: few });
  expect(Object.values(seen).every(({ bills }) => bills!.rows === 1)).toBe(true);
});

proofTest(
  'a mart rebuilt on a snapshot is replaced, and a mart with a new column keeps its older snapshots as they were',
  async () => {
    const ids = await lake.snapshotIds();
    const [first, second] = [ids.at(-2)!, ids.at(-1)!];
    await showMart(lake, places, {
      id: first,
      query: `select 'c' as connection_id, 1.10::decimal(38,9) as amount`,
    });
    await showMart(lake, places, {
      id: second,
      query: `select 'c' as connection_id, 2.20::decimal(38,9) as amount, 'x' as name`,
    });
    await showMart(lake, places, {
      id: second,
      query: `select 'c' as connection_id, 2.30::decimal(38,9) as amount, 'x' as name`,
    });
    for (const reader of ['pyiceberg', 'duckdb'] as const) {
      const seen = await readIceberg(url, { reader, namespace: 'marts' });
      expect(seen[first]!.totals).toMatchObject({ rows: 1, sums: { amount: '1.1' } });
      expect(seen[second]!.totals).toMatchObject({ rows: 1, sums: { amount: '2.3' } });
      expect(Object.keys(seen[second]!.totals!.columns)).toEqual(['connection_id', 'amount', 'name']);
      expect(Object.keys(seen[first]!.totals!.columns)).toEqual(['connection_id', 'amount']);
    }
  },
);

proofTest('a mart whose column changes its type starts anew, without older snapshots', async () => {
  const [id] = (await lake.snapshotIds()).slice(-1);
  await showMart(lake, places, { id: id!, query: `select 'c' as connection_id, 'much' as amount` });
  const seen = await readIceberg(url, { reader: 'duckdb', namespace: 'marts' });
  expect(Object.keys(seen)).toEqual([id]);
  expect(seen[id!]!.totals!.columns).toEqual({ connection_id: 'VARCHAR', amount: 'VARCHAR' });
});

proofTest('two programs that write the same tables at once take turns', async () => {
  await rows(warehouse, `update finance.bills set memo = 'two at once' where id = 'wide'`);
  const { snapshotId } = await exportNow({ iceberg: { add: false, cacheFolder } });
  const show = (number: number) =>
    showSnapshots(
      lake,
      { ...places, scratch: `${places.scratch}-${number}` },
      { owner, add: true, newest: snapshotId },
    );
  const [first, second] = await Promise.all([show(1), show(2)]);
  expect(first).toEqual(second);
  await expectShown(await lake.snapshotIds());
});

test('tables are not written through a link', async () => {
  const folder = join(location, 'iceberg/finance/bills/metadata');
  await promisify(execFile)('mv', [folder, `${scratch}-elsewhere`]);
  await promisify(execFile)('ln', ['-s', `${scratch}-elsewhere`, folder]);
  expect((await exportNow()).icebergProblem).toMatch(/iceberg\/finance\/bills\/metadata is a link/);
});

/** Tables with changing rows, unchanging rows, and none. Reading all tables of all snapshots would take seconds each time. */
const few = ['bills', 'bill_lines', 'expenses'];

async function expectShown(ids: readonly string[]): Promise<void> {
  const seen: IcebergSeen = await readIceberg(url, { reader: 'pyiceberg', tables: few });
  expect(Object.keys(seen).sort()).toEqual([...ids].sort());
  expect(seen).toMatchObject(await manifestsSeen(few));
}

async function manifestsSeen(tables?: readonly string[]): Promise<Record<string, unknown>> {
  const ids = await lake.snapshotIds();
  const manifests = await Promise.all(ids.map((id) => readManifest(lake, id)));
  return Object.fromEntries(ids.map((id, index) => [id, manifestSeen(manifests[index]!, tables)]));
}

function catalogOf(): Promise<Record<string, unknown>[]> {
  return rows(warehouse, 'select table_name, metadata_location from iceberg.iceberg_tables order by 1');
}

async function restore(backup: readonly Record<string, unknown>[]): Promise<void> {
  await rows(warehouse, 'delete from iceberg.iceberg_tables');
  await warehouse.pool.query(
    'insert into iceberg.iceberg_tables select * from jsonb_populate_recordset(null::iceberg.iceberg_tables, $1)',
    [JSON.stringify(backup)],
  );
}

async function filesOf(table: string, folder: string): Promise<string[]> {
  return (await readdir(join(location, 'iceberg', 'finance', table, folder))).sort();
}
