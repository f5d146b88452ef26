import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { bill } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { proofTest, some } from '../support/proof-test.ts';
import { rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { createTestLake } from './create-test-lake.ts';
import { readParquet } from './read-parquet.ts';

const { warehouse, url } = await createTestDatabase();
const { exportNow, location } = await createTestLake(url);

beforeAll(async () => {
  const connectionId = await addTestConnection(warehouse);
  const dated = (id: string, day: string): string => bill(id, { issue_date: `"${day}T00:00:00.000Z"` });
  const records = [dated('first', '2024-01-01'), dated('middle', '2024-01-02'), dated('last', '2024-01-03')];
  await land(warehouse, { connectionId, stream: 'bills', pages: [records] });
  // Postgres would spend seconds on compressing the made-up text.
  await rows(warehouse, 'alter table finance.bills alter column memo set storage external');
});

/** CSV quotes a text with a quote, a comma or a line end, as in JSON. */
const plain = '0123456789';
const escaped = String.raw`\"`;
const inQuotes = '{"a": ""},';

const longRows: readonly (readonly [id: string, megabytes: number, text: string])[] = [
  ['last', 5, inQuotes],
  ['first', 5, inQuotes],
  ['last', 5, plain],
  ['first', 5, plain],
  ['middle', 57, plain],
  ['middle', 35, inQuotes],
  ['middle', 31, escaped],
];

test.each(some(longRows, 2))('the %s row of a table may have %d MB of %s', async (id, megabytes, text) => {
  await setMemo(id, megabytes, text);
  const { snapshotId, rows: exported } = await exportNow();
  const kept = await readParquet(
    join(location, 'snapshots', snapshotId),
    `select md5(memo) as memo, length(memo) as length from read_parquet('{lake}/bills/*.parquet') where id = '${id}'`,
  );
  expect(kept).toEqual(
    await rows(
      warehouse,
      `select md5(memo) as memo, length(memo)::text as length from finance.bills where id = $1`,
      [id],
    ),
  );
  expect(exported).toBeGreaterThan(2);
});

proofTest(
  'an export with a row of more than 60 MB fails with that reason, and publishes nothing',
  async () => {
    const before = await readdir(join(location, 'snapshots'));
    await setMemo('last', 61, plain);
    await expect(exportNow()).rejects.toMatchObject({
      name: 'RowTooLong',
      handling: 'stop',
      message: expect.stringMatching(
        /^Table bills has a row of more than 60 MB, which no snapshot can hold/,
      ) as string,
    });
    expect(await readdir(join(location, 'snapshots'))).toEqual(before);
  },
);

async function setMemo(id: string, megabytes: number, text: string): Promise<void> {
  await rows(warehouse, `update finance.bills set memo = repeat($3, $2) where id = $1`, [
    id,
    (megabytes * 1_000_000) / text.length,
    text,
  ]);
}
