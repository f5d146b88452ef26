import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { readWebhook } from '../../source/read-webhook.ts';
import { addConnection } from '../../warehouse/connections/add-connection.ts';
import { removeConnection } from '../../warehouse/connections/remove-connection.ts';
import { pruneWarehouse } from '../../warehouse/retention/prune-warehouse.ts';
import { storeWebhooks } from '../../warehouse/webhooks/store-webhooks.ts';
import { secretKey } from '../simulation/create-dependencies.ts';
import { runDaybook } from '../support/daybook-process.ts';
import {
  bill,
  customer,
  expense,
  item,
  list,
  object,
  subscription,
  text,
  type Fields,
} from '../support/finance-records.ts';
import { eventually } from '../support/eventually.ts';
import { landRecords } from '../support/land.ts';
import { openListing } from '../support/land-listing.ts';
import { proofDescribe, proofTest, some } from '../support/proof-test.ts';
import { rows } from '../support/rows.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { page as pageOf, ScriptedService, type Answer } from './scripted-service.ts';

const { warehouse, url: databaseUrl } = await createTestDatabase();
const started: ScriptedService[] = [];
afterEach(() => {
  for (const service of started.splice(0)) service.stop();
});

const id = '018cef06-9f09-725a-952f-f205cc26b8bb';
const anHour = 3_600;

describe.each(
  some([
    ['sends its time', (): Date | null => new Date()],
    ['does not send its time', (): Date | null => null],
  ]),
)('an erased record never comes back, with a service that %s:', (_which, date) => {
  proofTest('from a list that lags by seconds and shows an edit on its second page', async () => {
    const service = await serve({ customers: [customer('kept'), personal({ seconds: anHour })] }, date);
    await service.sync(['customers']);
    service.lists.customers = [customer('kept')];
    service.onList = (resource, query) => {
      if (resource !== 'customers') return undefined;
      return query.get('cursor') === 'two'
        ? page(service, [edited(service)])
        : page(service, [customer('kept')], 'two');
    };
    await erase(service, 'customers');
    expect(await service.sync(['customers'])).toMatchObject({ status: 'succeeded' });
    await expectNothing(service);
  });

  test('from a page in flight that shows an edit', async () => {
    const service = await serve({ customers: [customer('kept'), personal({ seconds: anHour })] }, date);
    await service.sync(['customers']);
    await eraseWhileInFlight(service);
    await expectNothing(service);
  });

  proofTest('from a reconcile page in flight', async () => {
    const service = await serve({ customers: [customer('kept'), personal({ seconds: anHour })] }, date);
    await service.sync(['customers']);
    await eraseWhileInFlight(service, () => service.reconcile(['customers']));
    await expectNothing(service);
  });

  proofTest('from a page in flight when the record was never held', async () => {
    const service = await serve({ customers: [customer('kept')] }, date);
    await service.sync(['customers']);
    await eraseWhileInFlight(service);
    await expectNothing(service);
  });

  proofTest('from a lagging list when records cannot be fetched', async () => {
    const service = await serve({}, date);
    const planted = (seconds: number): string =>
      subscription(id, { updated_at: ago(seconds), platform_id: text(plantedIn(service)) });
    service.lists.subscriptions = [subscription('kept'), planted(anHour)];
    service.lists.customers = [customer('kept')];
    await service.sync(['subscriptions']);
    await writtenAnHourAgo(service);
    service.lists.subscriptions = [subscription('kept')];
    await erase(service, 'subscriptions');
    service.lists.subscriptions = [subscription('kept'), planted(5)];
    await service.sync(['subscriptions']);
    expect(await service.ids('subscriptions')).toEqual(['kept']);
  });
});

test('a record that is re-created after its erasure, in a newer version, is copied', async () => {
  const service = await serve({ customers: [customer('kept'), personal({ seconds: anHour })] });
  await service.sync(['customers']);
  service.lists.customers = [customer('kept')];
  await erase(service, 'customers');
  service.lists.customers = [customer('kept'), personal({ seconds: -2 })];
  await service.sync(['customers']);
  expect(await service.ids('customers')).toEqual([id, 'kept']);
  expect(await service.rows('select id from finance.deleted_records where connection_id = $1')).toEqual([]);
});

test('a customer that was merged into another one can be erased once a reconcile has deleted it', async () => {
  const service = await serve({ customers: [customer('kept'), personal({ seconds: anHour })] });
  await service.sync(['customers']);
  service.lists.customers = [customer('kept')];
  service.onFetch = (_resource, recordId) =>
    recordId === id
      ? { status: 200, body: `{"connection":${service.connectionJson},"customer":${customer('kept')}}` }
      : undefined;
  const tooEarly = await runErase(service, 'customers');
  expect([tooEarly.code, tooEarly.stderr]).toEqual([
    1,
    expect.stringContaining('Run "daybook reconcile" first'),
  ]);
  await service.reconcile(['customers']);
  expect(await service.ids('customers')).toEqual(['kept']);
  await erase(service, 'customers');
  await expectNothing(service);
  service.lists.customers = [customer('kept'), edited(service)];
  const living = await runErase(service, 'customers');
  expect([living.code, living.stderr]).toEqual([1, expect.stringContaining('The source still returns')]);
});

test('a subscription that the source lists with its ID as a number is not erased', async () => {
  const shown = subscription('x', { id: '4711', updated_at: ago(anHour) });
  const service = await serve({ subscriptions: [subscription('kept'), shown] });
  await service.sync(['subscriptions']);
  const typed = await runErase(service, 'subscriptions', '4711');
  expect([typed.code, typed.stderr]).toEqual([1, expect.stringContaining('The source still returns 4711')]);
});

test('an expense can be erased on a platform without a list of refunds', async () => {
  const service = await serve({ expenses: [expense('kept'), expense('a', { last_synced_at: ago(anHour) })] });
  service.onList = (_resource, query) =>
    query.get('expense_type') === 'refund' ? { status: 404, body: '{"error_code":"NOT_FOUND"}' } : undefined;
  await service.sync(['expenses']);
  service.lists.expenses = [expense('kept')];
  expect((await erase(service, 'expenses', 'a')).held['finance.expenses']).toBe(1);
});

proofTest('an erasure preserves the known time and source of the deletion', async () => {
  const service = await serve({ customers: [customer('kept'), personal({ seconds: anHour })] });
  await service.sync(['customers']);
  service.lists.customers = [customer('kept')];
  const deletedAt = '2026-01-02T03:04:05.678Z';
  const event = { last_synced_at: ago(5), data: object({ id: text(id), deleted_at: text(deletedAt) }) };
  service.events = [
    object({ id: '"event"', resource: '"ACCOUNTING_CUSTOMER"', type: '"object_deleted"', ...event }),
  ];
  await service.sync([]);
  await erase(service, 'customers');
  expect(
    await service.rows('select deleted_at, source from finance.deleted_records where connection_id = $1'),
  ).toEqual([{ deleted_at: new Date(deletedAt), source: 'event' }]);
});

test('an erasure writes nothing to a re-added connection of the same name', async () => {
  const service = await serve({ customers: [customer('kept'), personal({ seconds: anHour })] });
  await service.sync(['customers']);
  service.lists.customers = [customer('kept')];
  service.onFetch = async (): Promise<Answer> => {
    service.onFetch = () => undefined;
    const { connection: connectionId, url: apiAddress } = service;
    await removeConnection(warehouse, { connectionId, keepData: false });
    const token = 'of another company';
    await addConnection(warehouse, secretKey, { connectionId, apiAddress, token, expandPlatformData: false });
    return undefined;
  };
  const { code, stderr } = await runErase(service, 'customers');
  expect([code, stderr]).toEqual([1, expect.stringContaining('nothing was written to it')]);
  for (const table of ['sync.tombstones', 'sync.runs'])
    expect(await service.rows(`select from ${table} where connection_id = $1`)).toEqual([]);
});

proofDescribe('an erasure removes the record from stored listing pages, and counts them:', () => {
  test('for a killed listing', async () => {
    const service = await serve({ bills: [bill('kept'), priced()] });
    await service.sync(['bills']);
    const { pass } = await openListing(warehouse, { connectionId: service.connection, stream: 'bills' });
    await landRecords(warehouse, { pass, records: service.lists.bills ?? [], nextCursor: 'two' });
    service.lists.bills = [bill('kept')];
    const { held, left } = await erase(service, 'bills');
    expect([held['sync.listed_pages'], left['sync.listed_pages']]).toEqual([1, 0]);
    expect(await listedBy(service)).toEqual(['kept']);
    expect(await service.reconcile(['bills'])).toMatchObject({ status: 'succeeded' });
  });

  test('for a listing that continues afterward, and still proves equality', async () => {
    const service = await serve({ bills: [bill('kept'), priced()] });
    await service.sync(['bills']);
    let listed: unknown[] = [];
    service.onList = async (_resource, query): Promise<Answer> => {
      if (query.get('cursor') === null) return pageOfBills(service, 'two');
      service.lists.bills = [bill('kept')];
      service.onList = () => undefined;
      // The first page may still be landing.
      await eventually(async () => ((await listedBy(service)).includes(id) ? true : undefined));
      await erase(service, 'bills');
      listed = await listedBy(service);
      return { status: 200, body: `{"connection":${service.connectionJson},"bills":[],"next_cursor":null}` };
    };
    expect(await service.reconcile(['bills'])).toMatchObject({ status: 'succeeded' });
    expect(listed).toEqual(['kept']);
    expect(await service.ids('bills')).toEqual(['kept']);
  });

  function priced(): string {
    return bill(id, { total_amount: '4711.11' });
  }

  function pageOfBills(service: ScriptedService, next: string): Answer {
    const bills = list(...(service.lists.bills ?? []));
    return {
      status: 200,
      body: `{"connection":${service.connectionJson},"bills":${bills},"next_cursor":${text(next)}}`,
    };
  }

  async function listedBy(service: ScriptedService): Promise<unknown[]> {
    const listed = await service.rows(
      `select record ->> 0 as id from sync.listed_pages, jsonb_array_elements(records) as listed (record)
       where connection_id = $1`,
    );
    return listed.map((one) => one.id);
  }
});

describe('an erasure clears stored webhooks about the record, and counts them:', () => {
  test.each<[string, (record: string) => Fields]>(
    some(
      [
        [
          'of its own type',
          (record) => ({ type: '"CUSTOMER"', code: '"CUSTOMER_UPDATED"', customer: record }),
        ],
        [
          'of a type under the name that events use',
          (record) => ({ type: '"ACCOUNTING_CUSTOMER"', accounting_customer: record }),
        ],
        [
          'of a job, in the response',
          (record) => job({ response: object({ http_status: '200', body: object({ customer: record }) }) }),
        ],
        [
          'of a job, in a response kept as text',
          (record) => job({ response: object({ body: text(object({ customer: record })) }) }),
        ],
        [
          'of a job, in the request',
          (record) => job({ request: object({ url: text(`/accounting/customers/${id}`), body: record }) }),
        ],
        [
          'of a job that does not say of which connection',
          (record) => ({ ...job({ response: object({ customer: record }) }), connection_id: undefined }),
        ],
        [
          'of a job, among others in a list',
          (record) => job({ response: object({ customers: list(customer('other'), record) }) }),
        ],
        [
          'of a type that nobody knows',
          (record) => ({ type: '"LEDGER"', what: list(object({ ever: record })) }),
        ],
        [
          'of another record, beside it',
          (record) => ({ type: '"BILL"', code: '"BILL_UPDATED"', bill: bill('other'), customer: record }),
        ],
        [
          'of another record, beside it, under the other name of that one',
          (record) => ({ type: '"ITEMS"', item: item('other'), items: list(record) }),
        ],
      ],
      1,
    ),
  )('a webhook %s', async (_which, webhookOf) => {
    const service = await serve({ customers: [customer('kept'), personal({ seconds: anHour })] });
    await service.sync(['customers']);
    await deliver(service, webhookOf(edited(service)));
    service.lists.customers = [customer('kept')];
    const { held, left } = await erase(service, 'customers');
    expect([held['sync.webhook_inbox'], left['sync.webhook_inbox']]).toEqual([1, 0]);
    await expectNothing(service);
  });

  proofTest('but keeps webhooks about other records, even those that mention its ID', async () => {
    const service = await serve({ customers: [customer('kept'), personal({ seconds: anHour })] });
    await service.sync(['customers']);
    const naming = list(object({ customer_id: text(id), description: '"Paper"' }));
    await deliver(service, {
      type: '"BILL"',
      code: '"BILL_UPDATED"',
      bill: bill('b', { line_items: naming }),
    });
    await deliver(service, { type: '"CUSTOMER"', code: '"CUSTOMER_UPDATED"', customer: customer('kept') });
    // Also under the name that events use.
    await deliver(service, {
      type: '"ITEMS"',
      items: item('i', { platform_data: object({ vendor: text(id) }) }),
    });
    await deliver(service, job({ response: object({ customer: customer(`${id}0`) }) }));
    service.lists.customers = [customer('kept')];
    const { held } = await erase(service, 'customers');
    expect(held['sync.webhook_inbox']).toBe(0);
    expect(
      await service.rows(
        `select type from sync.webhook_inbox where connection_id = $1 and payload <> '{}' order by type`,
      ),
    ).toEqual([{ type: 'BILL' }, { type: 'CUSTOMER' }, { type: 'ITEMS' }, { type: 'JOB' }]);
  });

  proofTest('a webhook whose body Postgres can store only as text', async () => {
    const service = await serve({ customers: [customer('kept')] });
    await service.sync(['customers']);
    const spoiled = (record: string): Fields => ({ ...job({ response: record }), note: '"\\ud800"' });
    await deliver(service, spoiled(edited(service)), true);
    await deliver(service, spoiled(customer('kept')), true);
    const { held } = await erase(service, 'customers');
    expect(held['sync.webhook_inbox']).toBe(1);
    await expectNothing(service);
  });

  test('a webhook whose numbers Postgres could not write out', async () => {
    const service = await serve({ customers: [customer('kept')] });
    await service.sync(['customers']);
    const long = list(...Array<string>(12_000).fill('1e89999'));
    await deliver(service, { ...job({ response: edited(service) }), long });
    await deliver(service, { ...job({ response: customer('kept') }), long });
    const { held } = await erase(service, 'customers');
    expect(held['sync.webhook_inbox']).toBe(1);
    await expectNothing(service);
  });

  test.each(some(['5', 'a "quoted" \\ id', '(a|b)+.*$', 'é-ü', '%_']))(
    'webhooks about the ID %j',
    async (odd) => {
      const service = await serve({ customers: [customer('kept')] });
      await service.sync(['customers']);
      const record = customer(odd, { email: text(plantedIn(service)) });
      await deliver(service, job({ response: object({ customer: record }) }));
      await deliver(service, job({ response: object({ customer: customer('kept', { phone: '"15-x"' }) }) }));
      const { held } = await erase(service, 'customers', odd);
      expect(held['sync.webhook_inbox']).toBe(1);
      await expectNothing(service);
    },
  );

  test.each(
    some<[string, string, (record: string) => string]>([
      ['with every slash escaped', 'AC/12', (record) => text(record.replaceAll('/', '\\/'))],
      ['with letters by their number', 'café-1', (record) => text(record.replaceAll('é', '\\u00e9'))],
      ['with signs by their number', 'A&B=1', (record) => text(record.replace(/[&=]/g, numbered))],
      ['within a text that is JSON', 'é/"\\1', (record) => text(object({ body: text(record) }))],
    ]),
  )('webhooks with an ID inside JSON text, %s', async (_which, odd, spelled) => {
    const service = await serve({ customers: [customer('kept')] });
    await service.sync(['customers']);
    const response = spelled(object({ customer: customer(odd, { email: text(plantedIn(service)) }) }));
    await deliver(service, job({ response }));
    await deliver(service, job({ response }), true);
    await deliver(service, job({ response: spelled(object({ customer: customer(`${odd}8`) })) }));
    const { held } = await erase(service, 'customers', odd);
    expect(held['sync.webhook_inbox']).toBe(2);
    await expectNothing(service);
  });

  function numbered(sign: string): string {
    return `\\u${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
  }

  test('webhooks whose ID is escaped differently inside JSON text', async () => {
    const odd = 'INV"7\\';
    const service = await serve({ customers: [customer('kept')] });
    await service.sync(['customers']);
    const record = customer(odd, { email: text(plantedIn(service)) });
    await deliver(service, job({ response: text(object({ customer: record })) }));
    await deliver(service, job({ response: text(object({ customer: customer(`${odd}8`) })) }));
    const { held } = await erase(service, 'customers', odd);
    expect(held['sync.webhook_inbox']).toBe(1);
    await expectNothing(service);
  });

  test.each([
    { none: '', code: 2 },
    { none: ' ', code: 0 },
  ])('but none for the blank ID $none', async ({ none, code }) => {
    const service = await serve({ customers: [customer('kept')], subscriptions: [] });
    await service.sync(['customers']);
    await deliver(service, job({ response: object({ customer: customer('kept') }) }));
    expect((await runErase(service, 'subscriptions', none)).code).toBe(code);
    expect(
      await service.rows(
        `select type from sync.webhook_inbox where connection_id = $1 and payload <> '{}' order by type`,
      ),
    ).toEqual([{ type: 'JOB' }]);
  });
});

test('an erasure refuses a living subscription that moves between two pages', async () => {
  const service = await serve({ subscriptions: [subscription('kept'), subscribed(anHour)], customers: [] });
  await service.sync(['subscriptions']);
  await writtenAnHourAgo(service);
  // While the second page is under way, the record is edited and moves to the first page, which was read.
  const first = subscription('first', { updated_at: ago(60) });
  service.onList = (resource, query) => {
    if (resource !== 'subscriptions') return undefined;
    if (query.get('cursor') === null) return pageOf(service, resource, [first], 'two');
    service.lists.subscriptions = [subscribed(2), first, subscription('kept')];
    service.onList = () => undefined;
    return pageOf(service, resource, [subscription('kept')]);
  };
  const { code, stderr } = await runErase(service, 'subscriptions');
  expect([code, stderr]).toEqual([1, expect.stringContaining('still returns')]);
  await service.sync(['subscriptions']);
  expect(await service.ids('subscriptions')).toEqual([id, 'first', 'kept'].sort());
});

test('an erasure refuses a living subscription when the token opens another company after the first page', async () => {
  const service = await serve({ subscriptions: [subscription('kept'), subscribed(anHour)], customers: [] });
  await service.sync(['customers', 'subscriptions']);
  await writtenAnHourAgo(service);
  let isAnother = false;
  const named = signal();
  service.onList = async (resource, query) => {
    if (resource !== 'subscriptions') return undefined;
    if (query.get('cursor') === null && !isAnother) return unnamed([subscription('kept')], '"two"');
    // The request comes while the first one is judged.
    await named.given;
    isAnother = true;
    return unnamed([], 'null');
  };
  const another = '{"id":"svc-another","orgId":"another-org","platform":"QUICKBOOKS"}';
  service.onOne = () => {
    if (isAnother) return { status: 200, body: `{"connection":${another},"bills":[],"next_cursor":null}` };
    named.give();
    return undefined;
  };
  const { code, stderr } = await runErase(service, 'subscriptions');
  expect([code, stderr]).toEqual([1, expect.stringContaining('now opens a different company')]);
  expect(await service.ids('subscriptions')).toEqual([id, 'kept'].sort());
});

/** A page of subscriptions that does not name its company. */
function unnamed(records: readonly string[], next: string): Answer {
  return { status: 200, body: `{"subscriptions":[${records.join(',')}],"next_cursor":${next}}` };
}

proofTest('an erasure refuses a subscription written moments ago, even if no list shows it', async () => {
  const service = await serve({ subscriptions: [subscription('kept'), subscribed(anHour)], customers: [] });
  await service.sync(['subscriptions']);
  service.lists.subscriptions = [subscription('kept')];
  const { code, stderr } = await runErase(service, 'subscriptions');
  expect([code, stderr]).toEqual([1, expect.stringContaining('a list may not show it yet')]);
});

proofTest(
  'an erasure refuses a record that was re-created and landed after the source reported it gone',
  async () => {
    const service = await serve({ bills: [bill('kept'), bill(id, { last_synced_at: ago(anHour) })] });
    await service.sync(['bills']);
    service.lists.bills = [bill('kept')];
    service.onFetch = async (_resource, asked) => {
      if (asked !== id) return undefined;
      service.onFetch = () => undefined;
      // The refusal is under way, and meanwhile a webhook brings the record.
      const again = bill(id, { last_synced_at: ago(1), memo: '"again"' });
      service.lists.bills = [bill('kept'), again];
      await service.deliverWebhook('CREATED', again);
      return { status: 410, body: '{"error_code":"GONE"}' };
    };
    const { code, stderr } = await runErase(service, 'bills');
    expect([code, stderr]).toEqual([1, expect.stringContaining('was written while the source was asked')]);
    expect(await service.ids('bills')).toEqual([id, 'kept']);
  },
);

proofTest(
  'a page in flight does not restore an erased subscription, even if the platform clock is ahead',
  async () => {
    const ahead = -2 * anHour;
    const kept = subscription('kept', { updated_at: ago(ahead + 600) });
    const service = await serve({ subscriptions: [kept, subscribed(ahead + 300)], customers: [] });
    await service.sync(['subscriptions']);
    await writtenAnHourAgo(service);
    const asked = signal();
    const erased = signal();
    service.onList = async (resource) => {
      service.onList = () => undefined;
      const answer = pageOf(service, resource, [kept, subscribed(ahead + 5)]);
      asked.give();
      await erased.given;
      return answer;
    };
    const running = service.sync(['subscriptions']);
    await asked.given;
    service.lists.subscriptions = [kept];
    await erase(service, 'subscriptions');
    erased.give();
    await running;
    expect(await service.ids('subscriptions')).toEqual(['kept']);
  },
);

describe('an invalid version of an erased record is not stored:', () => {
  const bad = (service: ScriptedService, seconds: number): string =>
    customer(id, { last_synced_at: ago(seconds), email: text(plantedIn(service)), phone: '4711' });

  proofTest('from a lagging list', async () => {
    const service = await serve({});
    service.lists.customers = [customer('kept'), bad(service, 30)];
    await service.sync(['customers']);
    service.lists.customers = [customer('kept')];
    await erase(service, 'customers');
    service.lists.customers = [customer('kept'), bad(service, 30)];
    await service.sync(['customers']);
    await expectNothing(service);
  });

  test('from a page in flight', async () => {
    const service = await serve({ customers: [customer('kept'), personal({ seconds: anHour })] });
    await service.sync(['customers']);
    await eraseWhileInFlight(service, () => service.sync(['customers']), bad(service, 5));
    await expectNothing(service);
  });

  proofTest('from a page of a running reconcile', async () => {
    const service = await serve({ customers: [customer('kept'), personal({ seconds: anHour })] });
    await service.sync(['customers']);
    await eraseWhileInFlight(service, () => service.reconcile(['customers']), bad(service, 5));
    await expectNothing(service);
  });

  proofTest.each<[string, (service: ScriptedService) => Promise<unknown>]>([
    ['the connection was removed, its data kept, and added again', addAgain],
    ['the runs of its time are pruned', () => pruneWarehouse(warehouse, { keep: nothing, dryRun: false })],
  ])('from a lagging list, after %s', async (_when, between) => {
    const service = await serve({ customers: [customer('kept'), personal({ seconds: anHour })] });
    await service.sync(['customers']);
    service.lists.customers = [customer('kept')];
    await erase(service, 'customers');
    await between(service);
    service.lists.customers = [customer('kept'), bad(service, 5)];
    await service.sync(['customers']);
    await expectNothing(service);
  });

  proofTest('from a fetch for a webhook', async () => {
    await eraseWhileFetched((service) =>
      service.deliverWebhook('UPDATED', `{"id":"${id}","last_synced_at":${ago(5)}}`),
    );
  });

  proofTest('from a fetch by a reconcile', async () => {
    await eraseWhileFetched((service) => {
      service.lists.bills = [bill('kept')];
      return service.reconcile(['bills']);
    });
  });

  async function eraseWhileFetched(run: (service: ScriptedService) => Promise<unknown>): Promise<void> {
    const service = await serve({ bills: [bill('kept'), bill(id, { last_synced_at: ago(anHour) })] });
    await service.sync(['bills']);
    const asked = signal();
    const erased = signal();
    service.onFetch = async (_resource, recordId) => {
      if (recordId !== id) return undefined;
      service.onFetch = () => undefined;
      asked.give();
      await erased.given;
      const form = bill(id, { last_synced_at: ago(5), memo: '4711' });
      return { status: 200, body: `{"connection":${service.connectionJson},"bill":${form}}` };
    };
    const running = run(service);
    await asked.given;
    service.lists.bills = [bill('kept')];
    await erase(service, 'bills');
    erased.give();
    await running;
    expect(await service.rows('select from sync.quarantine where connection_id = $1')).toEqual([]);
  }
});

test('an erasure removes a quarantined version of the record whose ID came as a number', async () => {
  const service = await serve({});
  const held = customer('4711', { last_synced_at: ago(anHour) });
  const other = customer('other', { id: '47110', last_synced_at: ago(30) });
  service.lists.customers = [customer('kept'), held];
  await service.sync(['customers']);
  const bad = customer('4711', { id: '4711', last_synced_at: ago(30), email: text(plantedIn(service)) });
  service.lists.customers = [customer('kept'), bad, other];
  await service.sync(['customers']);
  service.lists.customers = [customer('kept')];
  await erase(service, 'customers', '4711');
  await expectNothing(service);
  expect(await service.rows('select status from sync.quarantine where connection_id = $1')).toEqual([
    { status: 'open' },
  ]);
});

test('an erasure keeps quarantined records that only mention the erased ID as a number', async () => {
  const service = await serve({ customers: [customer('kept')] });
  const held = bill('7', { last_synced_at: ago(anHour) });
  const linked = list(object({ id: '7', allocated_date: 'null', allocated_amount: '5' }));
  const others = [
    bill('other', { id: undefined, linked_payments: linked }),
    bill('other', { id: '""', platform_data: object({ id: '7' }) }),
    bill('other', { id: '8', platform_data: object({ id: '7' }) }),
  ];
  service.lists.bills = [
    bill('kept'),
    held,
    ...others,
    bill('7', { id: '7', memo: text(plantedIn(service)) }),
  ];
  await service.sync(['bills', 'customers']);
  const waiting = `select payload from sync.quarantine where connection_id = $1 and status = 'open'`;
  expect(await service.rows(waiting)).toHaveLength(4);
  service.lists.bills = [bill('kept'), ...others];
  await erase(service, 'bills', '7');
  await expectNothing(service);
  expect((await service.rows(waiting)).map(({ payload }) => payload)).toEqual(expect.arrayContaining(others));
});

test.each([
  ['its ID is a number', '9007199254740993', object({ id: '9007199254740993', deleted_at: '"2024-01-01"' })],
  ['it does not say when', '4711', object({ id: '"4711"', deleted_at: '"2024-01-01"' })],
])('an erasure removes a quarantined event about the record, where %s', async (_, erased, data) => {
  const service = await serve({ customers: [customer('kept')] });
  const about = { resource: '"ACCOUNTING_CUSTOMER"', type: '"object_deleted"' };
  const event = object({
    ...{ id: '"event"', ...about, data, platform_data: text(plantedIn(service)) },
    ...(erased === '4711' ? {} : { last_synced_at: ago(5) }),
  });
  const other = object({ id: '"other"', ...about, data: object({ id: '["4711"]' }), note: '"4711"' });
  service.events = [event, other];
  await service.sync(['customers']);
  const waiting = `select payload from sync.quarantine where connection_id = $1 and status = 'open'`;
  expect(await service.rows(waiting)).toHaveLength(2);
  await erase(service, 'customers', erased);
  await expectNothing(service);
  expect(await service.rows(waiting)).toEqual([{ payload: other }]);
});

const nothing = { runsMilliseconds: 0, historyMilliseconds: null };

async function addAgain({ connection: connectionId, url: apiAddress }: ScriptedService): Promise<void> {
  await removeConnection(warehouse, { connectionId, keepData: true });
  const token = `token-${connectionId}`;
  await addConnection(warehouse, secretKey, { connectionId, apiAddress, token, expandPlatformData: false });
}

function subscribed(seconds: number): string {
  return subscription(id, { updated_at: ago(seconds) });
}

/** Moves the times further back than a list may lag. */
async function writtenAnHourAgo(service: ScriptedService): Promise<void> {
  await rows(
    warehouse,
    `with moved as (
       update finance.subscriptions set _changed_at = _changed_at - interval '1 hour' where connection_id = $1 returning 1
     ) select count(*) from moved`,
    [service.connection],
  );
}

async function serve(
  lists: Record<string, string[]>,
  date: () => Date | null = () => new Date(),
): Promise<ScriptedService> {
  const service = await new ScriptedService(warehouse).start();
  started.push(service);
  service.lists = lists;
  service.date = date;
  return service;
}

async function erase(
  service: ScriptedService,
  resource: string,
  recordId = id,
): Promise<Record<'held' | 'left', Record<string, number>>> {
  const { code, stdout, stderr } = await runErase(service, resource, recordId);
  expect([code, stderr]).toEqual([0, expect.anything()]);
  return JSON.parse(stdout) as Awaited<ReturnType<typeof erase>>;
}

/** Runs `daybook erase` as a user does. */
async function runErase(
  service: ScriptedService,
  resource: string,
  recordId = id,
): ReturnType<typeof runDaybook> {
  const cwd = await mkdtemp(join(tmpdir(), 'erasures-'));
  const env = {
    DATABASE_URL: databaseUrl,
    DAYBOOK_API_URL: service.url,
    DAYBOOK_CLIENT_ID: 'c',
    DAYBOOK_CLIENT_SECRET: 's',
    DAYBOOK_SECRET_KEY: secretKey.toString('base64'),
    DAYBOOK_HOME: join(cwd, 'home'),
  };
  const command = ['erase', service.connection, resource, recordId, '--json'];
  const typed = await runDaybook(command, { cwd, env });
  await rm(cwd, { recursive: true, force: true });
  return typed;
}

/** A run gets an edit of the record as its answer. The record is deleted and erased before the answer arrives. */
async function eraseWhileInFlight(
  service: ScriptedService,
  run = () => service.sync(['customers']),
  shown = edited(service),
): Promise<void> {
  const asked = signal();
  const erased = signal();
  service.onList = async (resource): Promise<Answer> => {
    if (resource !== 'customers') return undefined;
    const answer = page(service, [customer('kept'), shown]);
    asked.give();
    await erased.given;
    return answer;
  };
  const running = run();
  await asked.given;
  service.onList = () => undefined;
  service.lists.customers = [customer('kept')];
  await erase(service, 'customers');
  erased.give();
  expect(await running).toMatchObject({ status: 'succeeded' });
}

function signal(): { given: Promise<void>; give: () => void } {
  let give = (): void => undefined;
  const given = new Promise<void>((resolve) => (give = resolve));
  return { given, give };
}

async function deliver(service: ScriptedService, fields: Fields, asText = false): Promise<void> {
  const body = object({ connection_id: text(`svc-${service.connection}`), ...fields });
  const webhook = readWebhook(Buffer.from(body));
  if (webhook === undefined) throw new Error(`no webhook: ${body}`);
  await storeWebhooks(warehouse, { apiAddress: service.url, webhooks: [webhook], asText });
}

function job(fields: Fields): Fields {
  const payload = object({ id: text(crypto.randomUUID()), status: '"success"', ...fields });
  return { type: '"JOB"', code: '"JOB_COMPLETED"', job: payload };
}

function page(service: ScriptedService, records: readonly string[], next?: string): Answer {
  const connection = `{"id":"svc-${service.connection}","orgId":"org","platform":"QUICKBOOKS"}`;
  const cursor = next === undefined ? 'null' : text(next);
  return { status: 200, body: object({ connection, customers: list(...records), next_cursor: cursor }) };
}

/** The record as edited 5 seconds earlier. */
function edited(service: ScriptedService): string {
  return personal({ seconds: 5, email: plantedIn(service) });
}

function personal({ seconds, email = 'old@example.com' }: { seconds: number; email?: string }): string {
  return customer(id, { last_synced_at: ago(seconds), email: text(email) });
}

function plantedIn(service: ScriptedService): string {
  return `private@${service.connection}.example`;
}

function ago(seconds: number): string {
  return text(new Date(Date.now() - seconds * 1_000).toISOString());
}

/** Expects that no table of the warehouse contains the planted text, and that the other record is still there. */
async function expectNothing(service: ScriptedService): Promise<void> {
  expect(await service.ids('customers')).toEqual(['kept']);
  const tables = await rows(
    warehouse,
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname in ('finance', 'history', 'sync')`,
  );
  const holding: string[] = [];
  for (const { name } of tables) {
    const found = await rows(warehouse, `select from ${String(name)} r where r::text like $1 limit 1`, [
      `%${plantedIn(service)}%`,
    ]);
    if (found.length > 0) holding.push(String(name));
  }
  expect(holding).toEqual([]);
}
