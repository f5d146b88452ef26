import { expect, test } from 'vitest';
import { troubles } from '../../warehouse/alerts/troubles.ts';
import { bill, customer } from '../support/finance-records.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { lateAttempt } from './late-attempt.ts';
import { servicesOf } from './serve.ts';

const { warehouse } = await createTestDatabase();
const serve = servicesOf(warehouse);

test.each([
  ['the list still refuses', true],
  ['the list answers by then', false],
])('an attempt that wakes when its run has ended changes nothing of how it ended: %s', async (_, refuses) => {
  const service = await serve();
  service.lists = { bills: [bill('a')], customers: [customer('c')] };
  await service.sync([]);
  service.onList = (resource) => (resource === 'customers' ? { status: 400, body: '{}' } : undefined);
  const { id: runId } = await service.sync([]);
  const told = async (): Promise<unknown> => [
    await service.rows(
      `select r.status as run, s.stream, s.status, s.failure_type, s.failure, s.requests
       from sync.runs r join sync.run_streams s using (run_id)
       where r.connection_id = $1 and r.run_id = '${String(runId)}' order by s.stream`,
    ),
    (await troubles.failed.execute(warehouse.db)).rows,
  ];
  const before = await told();
  if (!refuses) service.onList = () => undefined;
  await lateAttempt(service, { runId: String(runId), kind: 'sync', stream: 'customers' });
  expect(await told()).toEqual(before);
});
