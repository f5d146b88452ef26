import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { addConnection } from '../../warehouse/connections/add-connection.ts';
import { removeConnection } from '../../warehouse/connections/remove-connection.ts';
import { backfillPlan } from '../../warehouse/passes/backfill-plan.ts';
import { planBackfill } from '../../warehouse/passes/plan-backfill.ts';
import { secretKey } from '../simulation/create-dependencies.ts';
import { bill, customer, expense } from '../support/finance-records.ts';
import { begin } from '../support/land.ts';
import { createTestDatabase } from '../support/test-database.ts';
import type { ScriptedService } from './scripted-service.ts';
import { createServiceStarter } from './serve.ts';

const { warehouse } = await createTestDatabase();
const serve = createServiceStarter(warehouse);

// The facts by which a list is known to have been read must outlive its connection, whoever opens the list first afterwards.
test.each<[string, (connectionId: string) => Promise<void>]>([
  ['', () => Promise.resolve()],
  [', also where a backfill is planned first', planned],
])(
  'one 404 from a list of a connection that was removed with data kept and re-added is retried%s',
  async (_which, before) => {
    const service = await serve();
    service.lists = { bills: [bill('a'), bill('b')], customers: [customer('c')] };
    await service.sync(['bills', 'customers']);
    await addAgain(service);
    await before(service.connection);
    let asked = 0;
    service.onList = (resource) =>
      resource === 'bills' && (asked += 1) === 1 ? { status: 404, body: '{}' } : undefined;
    service.lists.bills = [bill('a'), bill('b'), bill('new', { last_synced_at: now() })];
    await service.sync(['bills', 'customers']);
    expect(await service.ids('bills')).toEqual(['a', 'b', 'new']);
  },
);

test('a refund list that was never offered is not reported as missing after its connection is re-added', async () => {
  const service = await serve();
  service.lists = { expenses: [expense('e')] };
  service.onList = (_resource, query) =>
    query.get('expense_type') === 'refund' ? { status: 404, body: '{}' } : undefined;
  expect(await service.sync(['expenses'])).toMatchObject({ status: 'succeeded' });
  await addAgain(service);
  expect(await service.sync(['expenses'])).toMatchObject({ status: 'succeeded' });
});

async function addAgain({ connection: connectionId, url: apiAddress }: ScriptedService): Promise<void> {
  await removeConnection(warehouse, { connectionId, keepData: true });
  const token = `token-${connectionId}`;
  await addConnection(warehouse, secretKey, { connectionId, apiAddress, token, expandPlatformData: false });
}

async function planned(connectionId: string): Promise<void> {
  const runId = randomUUID();
  await begin(warehouse, { connectionId, runId });
  const plan = backfillPlan({ from: '2024-01-01', to: '2024-02-01' });
  await planBackfill(warehouse, { connectionId, runId, plan });
}

function now(): string {
  return `"${new Date().toISOString()}"`;
}

test.each([true, false])(
  'removing a connection deletes what came of its company before the company had a name (data kept: %s)',
  async (keepData) => {
    const service = await serve();
    const { connection: connectionId } = service;
    await service.storeWebhook('CREATED', bill('before'));
    service.lists = { bills: [bill('a')] };
    await service.sync(['bills']);
    // Adoption gives it a name; one that is about nothing that is copied keeps none.
    await service.rows(`update sync.webhook_inbox set connection_id = null where connection_id = $1`);
    const left = async (): Promise<unknown> =>
      service.rows(`select from sync.webhook_inbox where service_connection_id = 'svc-' || $1`);
    expect(await left()).toHaveLength(1);
    await removeConnection(warehouse, { connectionId, keepData });
    expect(await left()).toEqual([]);
  },
);
