import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createTestLake } from '../lake/create-test-lake.ts';
import { readParquet } from '../lake/read-parquet.ts';
import { bill } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { buildEnvironment } from './build-environment.ts';
import { martPath } from './marts-of.ts';

test('the marts on the lake count every value that does not fit, even more than a manifest lists', async () => {
  const { warehouse, url } = await createTestDatabase();
  const lake = await mkdtemp(join(tmpdir(), 'daybook-test-unfit-'));
  afterAll(() => rm(lake, { recursive: true, force: true }));
  const connectionId = await addTestConnection(warehouse);
  const noisy = Array.from({ length: 10_400 }, (_, index) =>
    bill(`noisy-${index}`, { total_amount: '1.00000000001' }),
  );
  const pages = [noisy, [bill('zz-huge', { total_amount: '1e40' })]];
  await land(warehouse, { connectionId, stream: 'bills', pages });
  const { exportNow } = await createTestLake(url, { lake });
  expect((await exportNow()).unfit).toBe(10_401);
  const { build } = await buildEnvironment({ databaseUrl: url, lake });
  const { code, stderr } = await build('lake');
  expect(code, stderr).toBe(0);
  expect(
    await readParquet(
      lake,
      `select check_name, failed_rows from '${await martPath(lake, 'data_quality')}'
       where check_name in ('amount_rounded', 'amount_does_not_fit') order by check_name`,
    ),
  ).toEqual([
    { check_name: 'amount_does_not_fit', failed_rows: '1' },
    { check_name: 'amount_rounded', failed_rows: '10400' },
  ]);
});
