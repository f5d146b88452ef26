import { expect, test } from 'vitest';
import { pruneWarehouse } from '../../warehouse/retention/prune-warehouse.ts';
import { rows } from '../support/rows.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse } = await createTestDatabase();

const day = 86_400_000;

test('webhooks closed long ago are removed, and waiting ones never are', async () => {
  for (const [digest, status, closedDaysAgo] of [
    ['waiting', 'waiting', null],
    ['old', 'applied', 100],
    ['old and ignored', 'ignored', 100],
    ['new', 'applied', 80],
  ]) {
    await warehouse.pool.query(
      `insert into sync.webhook_inbox (digest, type, code, payload, status, received_at, closed_at)
       values ($1, '', '', '{}', $2, now() - interval '1 year', now() - $3 * interval '1 day')`,
      [digest, status, closedDaysAgo],
    );
  }
  const keep = { runsMilliseconds: 90 * day, historyMilliseconds: null };
  for (const dryRun of [true, false]) {
    expect(await pruneWarehouse(warehouse, { keep, dryRun })).toMatchObject({ 'sync.webhook_inbox': 2 });
  }
  expect(await rows(warehouse, 'select digest from sync.webhook_inbox order by digest')).toEqual([
    { digest: 'new' },
    { digest: 'waiting' },
  ]);
});
