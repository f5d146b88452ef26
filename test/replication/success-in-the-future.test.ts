import { expect, test } from 'vitest';
import { readStatus } from '../../warehouse/connections/read-status.ts';
import { bill } from '../support/finance-records.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { createServiceStarter } from './serve.ts';

const { warehouse } = await createTestDatabase();
const serve = createServiceStarter(warehouse);

test('a success recorded while the Postgres clock was ahead does not hide later hours without a success', async () => {
  const service = await serve();
  service.lists = { bills: [bill('a')] };
  await service.sync([]);
  // Postgres's clock was 5 h ahead when that was recorded, 4 h ago, and was corrected at once. Every sync has failed since.
  await service.rows(
    `with c as (
       update sync.connections set sync_every = interval '15 minutes', created_at = created_at - interval '2 days'
       where connection_id = $1 returning 1
     ), s as (
       update sync.streams set last_success_at = last_success_at + interval '5 hours' - interval '4 hours'
       where connection_id = $1 returning 1
     ) select (select count(*) from c), (select count(*) from s)`,
  );
  const [status] = await readStatus(warehouse, service.connection);
  expect([
    status?.stale,
    status?.streams.find(({ stream }) => stream === 'bills')?.freshness_seconds,
  ]).toEqual([true, null]);
});
