import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { openLake } from '../../lake/open-lake.ts';
import { readManifest, readPointer } from '../../lake/manifest/pointer.ts';
import { bill, billLine } from '../support/finance-records.ts';
import { createInstallation } from '../support/installation.ts';
import { sync } from '../support/sync.ts';
import { manifestSeen, readIceberg } from './read-iceberg.ts';
import { readParquet } from './read-parquet.ts';

const installation = await createInstallation();
const { admin, run, env, databaseUrl } = installation;
const location = join(env.DAYBOOK_HOME!, 'lake');
const lake = await openLake({ location, scratch: join(installation.cwd, 'scratch') });
let connection: string;

const planted = 'planted-content-of-a-person';

beforeAll(async () => {
  connection = await installation.connect({ records: 60 });
  const lines = `[${billLine({ description: `"${planted} in a line"` })}]`;
  const record = bill('to-erase', { memo: `"${planted}"`, line_items: lines });
  await admin.execute({ kind: 'add', connection, resource: 'bills', record });
  await installation.startWorker();
  await sync(installation, connection);
});

test('export --iceberg reports how many tables there are and where, and marts become Iceberg tables too', async () => {
  const { code, stdout } = await run(['export', '--iceberg', '--wait']);
  expect(stdout).toMatch(
    / 28 Iceberg tables show it: files in \S+\/lake\/iceberg\/finance, catalog in the schema iceberg/,
  );
  expect(code).toBe(0);
  const { snapshot_id: id } = (await readPointer(lake))!;
  expect((await readIceberg(databaseUrl, { reader: 'duckdb' }))[id]).toMatchObject(
    manifestSeen((await readManifest(lake, id))!),
  );
  const marts = (await readIceberg(databaseUrl, { reader: 'duckdb', namespace: 'marts' }))[id]!;
  expect(marts).toMatchObject(
    await readIceberg(databaseUrl, { reader: 'pyiceberg', namespace: 'marts', tables: ['bills'] }).then(
      (seen) => ({ bills: { sums: seen[id]!.bills!.sums } }),
    ),
  );
  const [expected] = await readParquet(
    location,
    `select count(*) as rows from read_parquet('{lake}/marts/${id}/bills/*.parquet')`,
  );
  expect(marts.bills!.rows).toBe(Number(expected!.rows));
  expect(Object.keys(marts).length).toBeGreaterThan(20);
});

test('an erased record is in no file of the Iceberg tables, and the marts follow the rewritten snapshots', async () => {
  expect(await heldIn('finance/bills', 'memo')).toBe(1);
  await admin.execute({ kind: 'delete', connection, resource: 'bills', id: 'to-erase', event: false });
  expect(await run(['erase', connection, 'bills', 'to-erase'])).toMatchObject({ code: 0 });
  expect(await heldIn('finance/bills', 'memo')).toBe(0);
  expect(await heldIn('finance/bill_lines', 'description')).toBe(0);
  const { stdout } = await promisify(execFile)('grep', [
    '-rlaE',
    'planted|to-erase',
    join(location, 'iceberg'),
  ]).catch((error: unknown) => error as { stdout: string });
  expect(stdout).toBe('');
  const ids = await lake.snapshotIds();
  for (const namespace of ['finance', 'marts'] as const) {
    const seen = await readIceberg(databaseUrl, { reader: 'pyiceberg', namespace, tables: ['bills'] });
    expect(Object.keys(seen)).toEqual(ids);
  }
});

async function heldIn(table: string, column: string): Promise<number> {
  const [row] = await readParquet(
    location,
    `select count(*) as held from read_parquet('{lake}/iceberg/${table}/data/*.parquet') where ${column} like '${planted}%'`,
  );
  return Number(row!.held);
}
