import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, expect, test } from 'vitest';
import { openLake } from '../../lake/open-lake.ts';
import { publishOnLake } from '../../marts/publish-on-lake.ts';
import { martPath } from '../dbt/marts-of.ts';
import { readParquet } from '../lake/read-parquet.ts';
import { isProof } from '../support/proof-test.ts';

const folder = await mkdtemp(join(tmpdir(), 'daybook-test-wide-rows-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The number of rows of 64 KB: in `npm run proof` more than the 700 MB that DuckDB may use, here 128 MB. */
const wide = isProof ? 16_000 : 2_000;

/** 2,000 bytes, the greatest length of an ID. */
const id = (nth: number): string => `repeat(md5((i * ${nth})::varchar), 62) as id_${nth}`;

test('marts with long IDs and texts are published to the lake, and rows of usual length are in order', async () => {
  const database = join(folder, 'made.duckdb');
  const made = await DuckDBInstance.create(database, { memory_limit: '3GB', threads: '1' });
  const connection = await made.connect();
  const ids = Array.from({ length: 24 }, (_, nth) => id(nth + 1)).join(', ');
  await connection.run('create schema marts');
  await connection.run(
    `create table marts.spend_lines as
     select md5(i::varchar) as document_id, i as position, repeat('😀', 4000) as description, ${ids} from range(${wide}) r(i)`,
  );
  await connection.run(
    `insert into marts.spend_lines (document_id, position) select md5(i::varchar), i from range(10000) r(i)`,
  );
  connection.closeSync();
  made.closeSync();
  const scratch = join(folder, 'scratch');
  const lake = await openLake({ location: join(folder, 'lake'), scratch });
  const snapshotId = '20261121T120001Z-aaaaaa';
  await publishOnLake(lake, {
    database,
    snapshotId,
    takenAt: '2026-11-21T12:00:00.000001Z',
    asOfDate: '2026-11-21',
    scratch,
  });
  await lake.close();
  const path = await martPath(join(folder, 'lake'), 'spend_lines');
  const read = await readParquet(
    folder,
    `select (description is not null)::varchar as is_wide, count(*)::varchar as rows, count(distinct document_id)::varchar as documents,
       (list(document_id order by file_row_number) = list_sort(list(document_id)))::varchar as in_order
     from read_parquet('${path}', file_row_number = true) group by 1 order by 1`,
  );
  expect(read).toMatchObject([
    { is_wide: 'false', rows: '10000', documents: '10000', in_order: 'true' },
    { is_wide: 'true', rows: `${wide}`, documents: `${wide}` },
  ]);
});
