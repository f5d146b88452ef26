import { expect, test } from 'vitest';
import { bill, customer, item } from '../support/finance-records.ts';
import { buildDeletionEvent } from '../support/land-events.ts';
import { proofTest } from '../support/proof-test.ts';
import { createTestDatabase } from '../support/test-database.ts';
import type { Answer, ScriptedService } from './scripted-service.ts';
import { createServiceStarter } from './serve.ts';

// Whatever needs the name of the company asks the lists for it, bills first. That list fails here, and no other.
const { warehouse } = await createTestDatabase();
const serve = createServiceStarter(warehouse);

const failures: [string, Answer][] = [
  ['503', { status: 503, body: '{}' }],
  ['not ready', { status: 400, body: '{"error_code":"PRODUCT_NOT_READY"}' }],
  ['over the limit of its platform', { status: 452, body: '{}' }],
  ['no JSON', { status: 200, body: '<html>' }],
];

test.each(failures)(
  'a deletion of a customer lands while the list of bills is %s',
  async (_which, answer) => {
    const service = await serveFailing(answer);
    service.lists.customers = [customer('c')];
    service.events = [
      buildDeletionEvent('gone', new Date().toISOString(), { resource: '"ACCOUNTING_CUSTOMER"' }),
    ];
    expect(await service.sync(['customers'])).toMatchObject({ status: 'succeeded' });
    expect(await service.ids('customers')).toEqual(['c']);
  },
);

test.each(failures)(
  'a deletion that a webhook announces is applied while the list of bills is %s',
  async (_which, answer) => {
    const service = await serveFailing(answer);
    service.lists.bills = [bill('b')];
    await service.deliverWebhook('DELETED', bill('gone-too'));
    expect(await service.ids('bills')).toEqual(['b']);
  },
);

// An attempt asks for a minute.
proofTest(
  'an approval is given up if no list names the company for longer than DAYBOOK_GIVE_UP_AFTER',
  async () => {
    const service = await serve();
    service.lists = { bills: ['a', 'b', 'c', 'd'].map((id) => bill(id)) };
    await service.sync(['bills']);
    service.lists.bills = [];
    const { id: found } = await service.reconcile(['bills']);
    service.onList = service.onOne = () => ({ status: 503, body: '{}' });
    const { id } = await service.approve(['bills'], { bills: { records: 4, run: String(found) } });
    const runs = await service.rows(
      `select status, failure from sync.runs where connection_id = $1 and run_id = '${String(id)}'`,
    );
    expect(runs).toMatchObject([
      {
        status: 'failed',
        failure: expect.stringMatching(
          /^Reading bills failed for \d+ s, so this run gave up on it/,
        ) as string,
      },
    ]);
    expect(await service.ids('bills')).toHaveLength(4);
  },
);

async function serveFailing(answer: Answer): Promise<ScriptedService> {
  const service = await serve();
  service.lists = {
    bills: [bill('b'), bill('gone-too')],
    customers: [customer('c'), customer('gone')],
    items: [item('i')],
  };
  await service.sync(['bills', 'customers', 'items']);
  service.onList = (resource) => (resource === 'bills' ? answer : undefined);
  service.onOne = (resource) => (resource === 'bills' ? answer : undefined);
  return service;
}
