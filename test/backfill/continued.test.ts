import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { ScriptedService } from '../replication/scripted-service.ts';
import { createServiceStarter } from '../replication/serve.ts';
import { createDependencies } from '../simulation/create-dependencies.ts';
import { Driver } from '../simulation/driver.ts';
import { bill, customer } from '../support/finance-records.ts';
import { row } from '../support/rows.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse } = await createTestDatabase();
const serve = createServiceStarter(warehouse);
const ids = ['bills', 'customers'];

test('a continued backfill is partial if its earlier windows left a record in quarantine', async () => {
  const service = await serve();
  service.lists = { bills: [bill('a', { total_amount: '"much"' })], customers: [customer('c')] };
  await endWhileCustomersFail(service);
  expect(await backfill(service)).toBe('partial');
  expect(service.requests.some((path) => path.includes('bills'))).toBe(false);
});

test('a backfill started over a week after an unfinished one reads everything again', async () => {
  const service = await serve();
  service.lists = { bills: [bill('a')], customers: [customer('c')] };
  await endWhileCustomersFail(service);
  const { connection } = service;
  await service.rows(
    `update sync.runs set status = 'interrupted', finished_at = clock_timestamp() - interval '8 days'
     where connection_id = $1`,
  );
  await service.rows('update finance.bills set total_amount = 1 where connection_id = $1');
  expect(await backfill(service)).toBe('succeeded');
  expect(
    await row(warehouse, 'select total_amount::text as total from finance.bills where connection_id = $1', [
      connection,
    ]),
  ).toEqual({ total: '110.25' });
});

test('a backfill started a month after a terminated one, whose run was never closed, reads everything again', async () => {
  const service = await serve();
  service.lists = { bills: [bill('a')], customers: [customer('c')] };
  await endWhileCustomersFail(service);
  expect(await service.rows('select status from sync.runs where connection_id = $1')).toEqual([
    { status: 'running' },
  ]);
  await aMonthPasses(service);
  service.lists.bills = [bill('a', { total_amount: '220.5' })];
  expect(await backfill(service)).toBe('succeeded');
  expect(
    await service.rows('select total_amount::text as total from finance.bills where connection_id = $1'),
  ).toEqual([{ total: '220.5' }]);
});

async function aMonthPasses(service: ScriptedService): Promise<void> {
  for (const [table, columns] of [
    ['sync.runs', ['started_at']],
    ['sync.run_streams', ['started_at', 'finished_at']],
    [
      'sync.passes',
      [
        'started_at',
        'asked_at',
        'answered_from',
        'answered_at',
        'served_from',
        'served_until',
        'completed_at',
        'failing_since',
      ],
    ],
  ] as const)
    await service.rows(
      `update ${table} set ${columns.map((column) => `${column} = ${column} - interval '30 days'`).join(', ')} where connection_id = $1`,
    );
}

/** Runs a backfill that reads the bills, and ends its workflow while the list of customers answers 503. */
async function endWhileCustomersFail(service: ScriptedService): Promise<void> {
  const { onList } = service;
  service.onList = (resource) => (resource === 'customers' ? { status: 503, body: '{}' } : undefined);
  const run = { ended: false };
  await expect(backfill(service, run)).rejects.toThrow();
  service.onList = onList;
  service.requests.length = 0;
}

const windowsOfBills =
  "select part from sync.passes where connection_id = $1 and kind = 'backfill' and stream = 'bills'";

async function backfill(service: ScriptedService, run = { ended: false }): Promise<unknown> {
  const api = service.createApi();
  const of = { warehouse, api, apiAddress: service.url, lookbackMilliseconds: 600_000 };
  const driver = new Driver({
    connection: service.connection,
    worker: () => ({
      lost: new Promise(() => undefined),
      isDead: () => false,
      dependencies: () => createDependencies(of),
    }),
    // Instead of waiting for another attempt, waits until the bills are read.
    pass: async () => {
      await expect.poll(() => service.rows(windowsOfBills), { timeout: 20_000 }).toEqual([]);
      run.ended = true;
    },
    isTerminated: () => run.ended,
    onFailure: () => undefined,
  });
  const runId = randomUUID();
  try {
    await driver.backfill(runId, ids, { from: '2024-01-01', to: '2024-02-01' });
  } finally {
    await api.close();
  }
  const ended = await row(warehouse, 'select status from sync.runs where run_id = $1', [runId]);
  return ended.status;
}
