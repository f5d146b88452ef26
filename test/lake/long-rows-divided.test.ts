import { DuckDBInstance } from '@duckdb/node-api';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, expect, test } from 'vitest';
import type { ExportJob } from '../../activities/export/export-job.ts';
import type { PartSizes } from '../../activities/export/plan-parts.ts';
import type { DuckDb } from '../../lake/parquet/duck-db.ts';
import { NamedPipes } from '../../lake/parquet/csv-pipe.ts';
import { writeTable } from '../../lake/parquet/write-table.ts';
import { bill } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { proofTest } from '../support/proof-test.ts';
import { rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { createTestLake } from './create-test-lake.ts';
import { readParquet } from './read-parquet.ts';

const { warehouse, url } = await createTestDatabase();
const sizes: PartSizes = { rowsAlone: 20, rowsOfPiece: 25, rowsShared: 3, connectionsShared: 2 };
const { exportNow, location } = await createTestLake(url, { sizes });
const folder = await mkdtemp(join(tmpdir(), 'daybook-test-divided-'));
const pipes = new NamedPipes(folder, 'pipe');
afterAll(() => rm(folder, { recursive: true, force: true }));
const connectionId = await addTestConnection(warehouse, 'long');
await land(warehouse, {
  connectionId,
  stream: 'bills',
  pages: [Array.from({ length: 120 }, (_, index) => bill(`b${index}`))],
});
// Postgres would spend seconds on compressing what is only made up.
await rows(warehouse, 'alter table finance.bills alter column memo set storage external');

test('long rows of a divided connection are in order, in row groups of some 12 MB', async () => {
  await rows(warehouse, `update finance.bills set memo = repeat(id || '-', 1000000 / length(id || '-'))`);
  const { files, largestGroup } = await exportLong();
  expect(files).toBe(4);
  expect(largestGroup).toBeLessThan(16_000_000);
});

proofTest(
  'rows of almost 60 MB, all in quotes, are exported from each piece of a divided connection',
  async () => {
    await rows(
      warehouse,
      `update finance.bills set memo = repeat('"aa', 14500000) where substring(id from 2)::int < 12`,
    );
    const { files, largestGroup } = await exportLong({ partBytes: 1_000 });
    expect(files).toBeGreaterThan(4);
    expect(largestGroup).toBeLessThan(130_000_000);
  },
);

proofTest('more long rows of a divided connection than memory holds are exported', async () => {
  await rows(warehouse, `update finance.bills set memo = repeat('0123456789', 190000)`);
  await land(warehouse, {
    connectionId,
    stream: 'bills',
    pages: [Array.from({ length: 380 }, (_, index) => bill(`c${index}`))],
  });
  await rows(warehouse, `update finance.bills set memo = repeat('0123456789', 190000)`);
  const { largestGroup } = await exportLong();
  expect(largestGroup).toBeLessThan(16_000_000);
});

test.each([
  { what: 'longer than memory holds together', count: 300, bytes: 350_000, memory: '110MB' },
  { what: 'of usual length', count: 110_000, bytes: 500, memory: '700MB' },
])('$count rows $what pass through to their parts in their order', async ({ count, bytes, memory }) => {
  const duckDb = await duckDbOf(memory);
  const perPart = Math.ceil(count / 2.5);
  const written = await writeTable(duckDb, {
    table: {
      name: 'bills',
      columns: [
        { name: 'part', parquet: 'BIGINT' },
        { name: 'id', parquet: 'BIGINT' },
        { name: 'memo', parquet: 'VARCHAR' },
      ],
    },
    folder: join(folder, 'draft'),
    parts: { column: 'part', numbers: [0, 1, 2, 3] },
    pipes,
    rows: count,
    openCsv: () => Readable.from(csvOf({ count, bytes, perPart })),
    longestRow: () => Promise.reject(new Error('No row is longer than usual')),
    partBytes: undefined,
  });
  expect(written.flat()).toHaveLength(4);
  const [held] = await readParquet(folder, orderOf('{lake}/draft/*.parquet', 'id'));
  expect(held).toEqual({ n: String(count), turned: '0', files: '3' });
  duckDb.close();
});

async function exportLong(job: Partial<ExportJob> = {}): Promise<{ files: number; largestGroup: number }> {
  const { snapshotId } = await exportNow({ force: true, ...job });
  const snapshot = join(location, 'snapshots', snapshotId);
  const of = (name: string): string => `${name}, md5(coalesce(memo, '')) as memo`;
  const held = await readParquet(
    snapshot,
    `select ${of('id')} from read_parquet('{lake}/bills/*.parquet') order by id`,
  );
  expect(held).toEqual(
    await rows(warehouse, `select ${of('id')} from finance.bills order by id collate "C"`),
  );
  const [order] = await readParquet(snapshot, orderOf('{lake}/bills/*.parquet', 'id'));
  expect(order).toMatchObject({ n: String(held.length), turned: '0' });
  const [group] = await readParquet(
    snapshot,
    `select max(bytes) as bytes from (
       select sum(total_uncompressed_size)::bigint as bytes from parquet_metadata('{lake}/bills/*.parquet') group by file_name, row_group_id
     )`,
  );
  return { files: Number(order?.files), largestGroup: Number(group?.bytes) };
}

/** In how many places of files a value is followed by a smaller one. */
function orderOf(files: string, column: string): string {
  return `select count(*)::varchar as n, count(*) filter (where before > ${column})::varchar as turned, count(distinct filename)::varchar as files
    from (
      select ${column}, filename, lag(${column}) over (partition by filename order by file_row_number) as before
      from read_parquet('${files}', filename = true, file_row_number = true)
    )`;
}

function* csvOf({
  count,
  bytes,
  perPart,
}: {
  count: number;
  bytes: number;
  perPart: number;
}): Generator<string> {
  for (let row = 0; row < count; row += 1) {
    const memo = String(row * 7919).padStart(10, '0');
    yield `${Math.floor(row / perPart)},${row},${memo.repeat(bytes / 10)}\n`;
  }
}

async function duckDbOf(memory: string): Promise<DuckDb> {
  const instance = await DuckDBInstance.create(':memory:', {
    memory_limit: memory,
    temp_directory: join(folder, 'spill'),
    threads: '1',
    preserve_insertion_order: 'false',
  });
  return {
    connect: () => instance.connect(),
    close: () => {
      instance.closeSync();
    },
  };
}
