import { readFile, writeFile } from 'node:fs/promises';
import { beforeEach, expect, test } from 'vitest';
import { openLake } from '../../lake/open-lake.ts';
import { eraseFromLake } from '../../operations/erase-from-lake.ts';
import { bills } from '../../resources/bills.ts';
import { settingsOf } from '../console/open-console.ts';
import { buildEnvironment } from '../dbt/build-environment.ts';
import { cacheFolder } from '../support/cache-folder.ts';
import { bill, text } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { isProof, proofTest } from '../support/proof-test.ts';
import { rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { askReaders } from './ask-readers.ts';
import { createTestLake } from './create-test-lake.ts';
import { readerOf, readIceberg } from './read-iceberg.ts';
import { showMart } from './show-mart.ts';

const { warehouse, url } = await createTestDatabase();
const { exportNow, location, scratch } = await createTestLake(url, { iceberg: { add: true, cacheFolder } });
const { env } = await buildEnvironment({ databaseUrl: url, lake: location });
const lake = await openLake({ location, scratch });
let connections: string[];
let landed = 0;

interface Listed {
  readonly current: string;
  /** Entries by snapshot and manifest. */
  readonly manifests: Readonly<
    Record<string, Readonly<Record<string, readonly { status: number; path: string }[]>>>
  >;
}

beforeEach(async () => {
  await rows(warehouse, 'delete from finance.bills');
  connections = [await addTestConnection(warehouse), await addTestConnection(warehouse)];
});

test('an Iceberg table lists no deleted file in any snapshot after an erasure', async () => {
  for (const id of ['stays', 'erased']) await showTotals(await exportWith(id));
  await rows(warehouse, `delete from finance.bills where id = 'erased'`);
  // This snapshot does not hold the record, and follows one that does.
  await exportWith('stays');
  expect(await erase('erased')).toEqual([]);
  await expectNoneGone('finance', 'bills');
  await expectNoneGone('marts', 'totals');
});

test('an erasure rewrites an Iceberg table that lists deleted files, once; an export does not', async () => {
  const erased = await exportWith('erased');
  await exportWith('stays');
  await showTotals(erased);
  for (const table of ['bills', 'totals']) await listAsGone(table);
  await exportWith('stays');
  expect(statusesIn(await listed('finance', 'bills'))).toContain(gone);
  const steps: string[] = [];
  expect(await erase('erased', steps)).toEqual([]);
  expect(steps).toEqual([
    'The Iceberg table bills lists files that are gone, and is made again',
    'The Iceberg table totals lists files that are gone, and is made again',
  ]);
  await expectNoneGone('finance', 'bills');
  const seen = await readIceberg(url, { reader: 'pyiceberg', tables: ['bills'] });
  expect(Object.keys(seen).sort()).toEqual(await lake.snapshotIds());
  const again: string[] = [];
  expect(await erase('nobody', again)).toEqual([]);
  expect(again).toEqual([]);
});

test('the manifests that a reader of an Iceberg table opens do not grow with each export', async () => {
  const counts: number[] = [];
  // One manifest per export would exceed two.
  for (let made = 0; made < (isProof ? 5 : 3); made += 1) {
    await exportWith(`bill-${made}`, connections[made % 2]);
    const { current, manifests } = await listed('finance', 'bills');
    counts.push(Object.keys(manifests[current] ?? {}).length);
  }
  expect(Math.max(...counts)).toBeLessThanOrEqual(2);
});

test('the list of complete snapshots keeps no files of versions replaced more than six hours ago', async () => {
  const { snapshotId: id } = await exportNow({ force: true, iceberg: { add: false, cacheFolder } });
  for (const total of ['one', 'two', 'three']) {
    await makeOlder('snapshots', { hours: 7 });
    const query = `select 'mine' as connection_id, '${total}' as total`;
    await showMart(lake, { databaseUrl: url, cacheFolder, scratch }, { id, query });
  }
  const names = await lake.filesIn('iceberg/marts/snapshots');
  const counted = (name: RegExp): number => names.filter((one) => name.test(one)).length;
  // For the last build: the list without the snapshot, which is in no file, and the one with it.
  const found = [counted(/^data\//), counted(/\/snap-.*avro$/), counted(/-m\d+\.avro$/)];
  expect(found).toEqual([1, 2, 1]);
});

test('replaced marts of a snapshot stay readable for six hours after the next build; an erasure removes them at once', async () => {
  const { snapshotId: id } = await exportNow({ force: true, iceberg: { add: false, cacheFolder } });
  const builds = [await build(id, 'saturday')];
  await makeOlder('totals', { hours: 24 });
  builds.push(await build(id, 'sunday'));
  const seen = async (): Promise<string[]> => (await readable()).filter((one) => builds.includes(one));
  expect(await seen()).toEqual([...builds].sort());
  await makeOlder('totals', { hours: 7 });
  builds.push(await build(id, 'monday'));
  expect(await seen()).toEqual(builds.slice(1).sort());
  expect(await erase('nobody')).toEqual([]);
  expect(await seen()).toEqual(builds.slice(2));
});

proofTest(
  'who has looked up the marts of a build can read them for six hours after one that makes them what they were before',
  async () => {
    const { snapshotId: id } = await exportNow({ force: true, iceberg: { add: false, cacheFolder } });
    const [before, between] = [await build(id, 'before'), await build(id, 'between')];
    const builds = [before, between];
    const seen = async (): Promise<string[]> => (await readable()).filter((one) => builds.includes(one));
    expect(await build(id, 'before')).toBe(before);
    expect(await seen()).toEqual([...builds].sort());
    for (const day of ['after', 'later']) {
      await makeOlder('totals', { hours: 7 });
      await build(id, day);
    }
    expect(await seen()).toEqual([]);
  },
);

/** The snapshot of the mart that is current after the build. */
async function build(id: string, day: string): Promise<string> {
  const query = `select 'mine' as connection_id, '${day}' as day`;
  await showMart(lake, { databaseUrl: url, cacheFolder, scratch }, { id, query });
  return (await listed('marts', 'totals')).current;
}

/** The snapshots of a mart whose files exist. Expects no other files. */
async function readable(): Promise<string[]> {
  const { manifests } = await listed('marts', 'totals');
  const paths = Object.values(manifests).flatMap((one) => Object.values(one).flat());
  const folder = 'iceberg/marts/totals/data';
  const there = (await lake.filesIn(folder)).map((path) => `file://${location}/${folder}/${path}`);
  expect(there.sort()).toEqual([...new Set(paths.map(({ path }) => path))].sort());
  return Object.keys(manifests).sort();
}

/** Makes a table of marts look as if it had been written earlier. */
async function makeOlder(table: string, { hours }: { hours: number }): Promise<void> {
  const [listed] = await rows(
    warehouse,
    `select metadata_location from iceberg.iceberg_tables where table_name = '${table}' and table_namespace = 'marts'`,
  );
  if (listed === undefined) return;
  const file = String(listed.metadata_location).replace('file://', '');
  const older = (text: string): string => String(Number(text) - hours * 3_600_000);
  const metadata = await readFile(file, 'utf8');
  await writeFile(file, metadata.replace(/(?<="(?:timestamp|last-updated)-ms":\s*)\d+/g, older));
}

/** Exports after this bill has come. */
async function exportWith(id: string, connectionId = connections[0]!): Promise<string> {
  landed += 1;
  const memo = text(`memo ${landed} of ${id}`);
  const at = `"2030-01-01T00:00:${String(landed).padStart(2, '0')}Z"`;
  await land(warehouse, {
    connectionId,
    stream: 'bills',
    pages: [[bill(id, { memo, last_synced_at: at })]],
  });
  const { snapshotId, icebergProblem } = await exportNow({ force: true });
  expect(icebergProblem).toBeUndefined();
  return snapshotId;
}

/** Erases the record, and returns what was kept. */
async function erase(id: string, steps: string[] = []): Promise<string[]> {
  const settings = settingsOf({ ...env, DAYBOOK_LAKE: location });
  const kept: string[] = [];
  await eraseFromLake(
    { settings: { ...settings, marts: { ...settings.marts, cacheFolder } }, warehouse },
    { connectionId: connections[0]!, resource: bills, id },
    {
      updateDependents: () => Promise.resolve(),
      onKept: ({ message }) => kept.push(message),
      onStep: (step) => steps.push(step),
    },
  );
  return kept;
}

/** Shows a mart with one row for the snapshot. */
async function showTotals(id: string): Promise<void> {
  const query = `select 'mine' as connection_id, '${id}' as snapshot_id`;
  await showMart(lake, { databaseUrl: url, cacheFolder, scratch }, { id, query });
}

async function expectNoneGone(namespace: string, table: string): Promise<void> {
  const found = await listed(namespace, table);
  expect(statusesIn(found)).not.toContain(gone);
  const folder = `iceberg/${namespace}/${table}/data`;
  const there = (await lake.filesIn(folder)).map((path) => `file://${location}/${folder}/${path}`);
  const paths = Object.values(found.manifests).flatMap((one) => Object.values(one).flat());
  expect(there).toEqual(expect.arrayContaining(paths.map(({ path }) => path)));
}

function statusesIn({ manifests }: Listed): number[] {
  const entries = Object.values(manifests).flatMap((one) => Object.values(one).flat());
  return [...new Set(entries.map(({ status }) => status))];
}

/** Iceberg's number for a deleted entry. */
const gone = 2;

async function listed(namespace: string, table: string): Promise<Listed> {
  return JSON.parse(await readEntries([namespace, table])) as Listed;
}

/** Lists the files as gone, as earlier versions did. */
async function listAsGone(table: string): Promise<void> {
  const namespace = table === 'bills' ? 'finance' : 'marts';
  await readEntries([namespace, table, 'gone']);
}

async function readEntries(args: string[]): Promise<string> {
  const env = { ...process.env, ...readerOf(url), PGOPTIONS: '-c search_path=iceberg' };
  return askReaders({ program: 'read_entries.py', args, env });
}
