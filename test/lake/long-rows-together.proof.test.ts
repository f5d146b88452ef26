import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runExportProcess } from '../../activities/export/run-export-process.ts';
import type { PartSizes } from '../../activities/export/plan-parts.ts';
import { asApplicationFailure } from '../../worker/failures.ts';
import { bill } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { some } from '../support/proof-test.ts';
import { rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { createTestLake } from './create-test-lake.ts';
import { readParquet } from './read-parquet.ts';

const { warehouse, url } = await createTestDatabase();
/** Gives each of a few connections its own part, so that all parts are written together. */
const sizes: PartSizes = { rowsAlone: 20_000, rowsOfPiece: 50_000, rowsShared: 1, connectionsShared: 1 };
const { exportNow, jobOf, location } = await createTestLake(url, { sizes });
const others = ['a1', 'a2', 'a3', 'a4'];
for (const name of others) {
  const connectionId = await addTestConnection(warehouse, name);
  await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('b1'), bill('b2')]] });
}
await addTestConnection(warehouse, 'long');
// Postgres would spend seconds on compressing the made-up text.
await rows(warehouse, 'alter table finance.bills alter column memo set storage external');

test.each(
  some([
    { what: 'more than may be in memory', count: 320, bytes: 1_900_000 },
    { what: 'each longer than usual', count: 12, bytes: 30_000_000 },
  ]),
)('an export of all companies succeeds with $count rows of one company, $what', async (long) => {
  const { count, bytes } = long;
  await rows(warehouse, `delete from finance.bills where connection_id = 'long'`);
  const page = Array.from({ length: count }, (_, index) => bill(`b${index}`));
  await land(warehouse, { connectionId: 'long', stream: 'bills', pages: [page] });
  await rows(
    warehouse,
    `update finance.bills set memo = repeat('0123456789', $1) where connection_id = 'long'`,
    [bytes / 10],
  );
  const { snapshotId } = await exportNow({ force: true });
  const held = await readParquet(
    join(location, 'snapshots', snapshotId),
    `select connection_id, count(*) as n, max(length(memo)) as longest from read_parquet('{lake}/bills/*.parquet')
     group by connection_id order by connection_id`,
  );
  expect(held).toEqual([
    ...others.map((id) => ({ connection_id: id, n: '2', longest: null })),
    { connection_id: 'long', n: String(count), longest: String(bytes) },
  ]);
});

test('a failed export names the table and the company at which it failed', async () => {
  await exportNow();
  await land(warehouse, { connectionId: 'a3', stream: 'bills', pages: [[bill('b3')]] });
  await rows(warehouse, 'alter table finance.bills rename column total_amount to lost');
  const failed = await runExportProcess(jobOf(), {
    signal: new AbortController().signal,
    onProgress: () => undefined,
  }).catch((error: unknown) => error);
  expect(asApplicationFailure(failed).message).toMatch(/^Unexpected Error \(42703 in bills of .*\ba3\b/);
});
