import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openLake } from '../../lake/open-lake.ts';
import { clearHost, dropSparkMarts } from '../../operations/clear-host.ts';
import { eraseEverywhere } from '../../operations/erase-everywhere.ts';
import { eraseFromLake } from '../../operations/erase-from-lake.ts';
import { bills } from '../../resources/bills.ts';
import { settingsOf } from '../console/open-console.ts';
import { buildEnvironment } from '../dbt/build-environment.ts';
import { bill } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { createTestLake } from './create-test-lake.ts';

/** Two warehouses that hold the same bill; the second is given the lake of the first. */
const [first, second] = await Promise.all([createTestDatabase(), createTestDatabase()]);
const folder = await mkdtemp(join(tmpdir(), 'daybook-test-lake-of-another-'));
afterAll(() => rm(folder, { recursive: true, force: true }));
const { location, exportNow } = await createTestLake(first.url);
const ofSecond = { lake: location, warehouseId: 'the-second' };
const { exportNow: exportSecond } = await createTestLake(second.url, ofSecond);
const { env, build } = await buildEnvironment({ databaseUrl: second.url, lake: location });
const { warehouse } = second;
const settings = settingsOf(env);
const record = { connectionId: 'acme', resource: bills, id: 'b1' };
const nothing = {
  updateDependents: (): Promise<void> => Promise.resolve(),
  onKept: (): undefined => undefined,
};
const isForeign = /holds snapshots of another warehouse, so nothing was written/;

beforeAll(async () => {
  for (const { warehouse: each } of [first, second]) {
    await addTestConnection(each, 'acme');
    await land(each, { connectionId: 'acme', stream: 'bills', pages: [[bill('b1'), bill('b2')]] });
  }
  await exportNow();
  const { snapshotId } = await exportNow({ force: true });
  // Files as exports and builds of the first have them while they run, and Spark's marts.
  for (const path of [
    'snapshots/.tmp-20261121T120009Z-abcdef/bills/part-00000.parquet',
    `marts/${snapshotId}/bills/.part-00000.parquet.tmp`,
    'marts/20261121T120009Z-abcdef/bills/part-00000.parquet',
    'iceberg/marts_spark/bills/data/rows.parquet',
    'iceberg/marts_spark_build/bills/data/rows.parquet',
  ]) {
    await mkdir(join(location, path, '..'), { recursive: true });
    await writeFile(join(location, path), 'of the first');
  }
});

const commands: readonly (readonly [string, () => Promise<unknown>])[] = [
  ['an export', () => exportSecond()],
  ['an export, when somebody removed the pointer', () => withoutPointer(() => exportSecond())],
  ['an erasure', () => eraseFromLake({ settings, warehouse }, record, nothing)],
  [
    'an erasure, when somebody removed the pointer',
    () => withoutPointer(() => eraseFromLake({ settings, warehouse }, record, nothing)),
  ],
  ["a host's clean-up", () => clearHost({ settings, warehouse })],
  ["the removal of Spark's marts", () => dropSparkMarts({ settings, warehouse })],
  ['a build of marts on the lake', () => built('lake')],
  ['a build of marts with Spark', () => built('spark')],
];

test.each(commands)(
  '%s of a second warehouse is refused, and the lake stays as it was',
  async (_, command) => {
    const before = await contentOf(location);
    const { rows: catalog } = await warehouse.pool.query('select * from iceberg.iceberg_tables');
    await expect(command()).rejects.toThrow(isForeign);
    expect(await contentOf(location)).toEqual(before);
    expect((await warehouse.pool.query('select * from iceberg.iceberg_tables')).rows).toEqual(catalog);
  },
);

test('a refused erasure erases nothing from the database either', async () => {
  await expect(eraseEverywhere({ settings, warehouse }, record, () => undefined)).rejects.toThrow(isForeign);
  expect(await rows(warehouse, `select id from finance.bills where id = 'b1'`)).toEqual([{ id: 'b1' }]);
  expect(await rows(warehouse, `select run_id from sync.runs where kind = 'erase'`)).toEqual([]);
});

test('a host clears its own disk although its lake belongs to another warehouse', async () => {
  const kept = join(settings.marts.home, 'dbt', 'postgres', 'target', 'content');
  await mkdir(join(kept, '..'), { recursive: true });
  await writeFile(kept, 'of a record');
  await expect(clearHost({ settings, warehouse })).rejects.toThrow(isForeign);
  await expect(readFile(kept)).rejects.toThrow(/ENOENT/);
});

test('an erasure leaves a snapshot of another warehouse in our own lake as it is', async () => {
  const own = await createTestLake(second.url, { warehouseId: 'the-second' });
  const { snapshotId } = await own.exportNow();
  const [foreign = ''] = await snapshotsIn(location);
  const path = ['snapshots', foreign] as const;
  await cp(join(location, ...path), join(own.location, ...path), { recursive: true });
  const before = await contentOf(join(own.location, ...path));
  const ours = settingsOf({ ...env, DAYBOOK_LAKE: own.location });
  const erased = await eraseFromLake({ settings: ours, warehouse }, record, nothing);
  expect(erased.map(({ from }) => from)).toEqual([snapshotId]);
  expect(await contentOf(join(own.location, ...path))).toEqual(before);
});

test('a lake without a pointer still belongs to its warehouse, and to a copy of that warehouse', async () => {
  await rm(join(location, 'latest.json'));
  expect(await exportNow({ force: true })).toMatchObject({ skipped: false });
  const copy = await createTestLake(second.url, { lake: location });
  expect(await copy.exportNow({ force: true })).toMatchObject({ skipped: false });
  const erased = await eraseFromLake({ settings, warehouse }, record, nothing);
  expect(erased).toHaveLength(4);
});

async function withoutPointer(work: () => Promise<unknown>): Promise<unknown> {
  const pointer = join(location, 'latest.json');
  const text = await readFile(pointer, 'utf8');
  await rm(pointer);
  try {
    return await work();
  } finally {
    await writeFile(pointer, text);
  }
}

async function built(target: 'lake' | 'spark'): Promise<void> {
  const { code, stderr } = await build(target, { JAVA_HOME: await javaThatOnlySaysItsVersion() });
  if (code !== 0) throw new Error(stderr);
}

async function javaThatOnlySaysItsVersion(): Promise<string> {
  const java = join(folder, 'bin', 'java');
  await mkdir(join(folder, 'bin'), { recursive: true });
  await writeFile(java, `#!/bin/sh\necho 'openjdk version "17.0.15" 2026-01-20' >&2\n`);
  await chmod(java, 0o755);
  return folder;
}

async function snapshotsIn(lake: string): Promise<string[]> {
  const opened = await openLake({ location: lake, scratch: folder });
  onTestFinished(() => opened.close());
  return opened.snapshotIds();
}

/** Every file below a folder, with its bytes. */
async function contentOf(root: string): Promise<Record<string, string>> {
  const files = (await readdir(root, { recursive: true, withFileTypes: true })).filter((one) => one.isFile());
  const paths = files.map(({ parentPath, name }) => join(parentPath, name)).sort();
  return Object.fromEntries(
    await Promise.all(paths.map(async (path) => [path, await readFile(path, 'base64')] as const)),
  );
}
