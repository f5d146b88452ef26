import { expect, test } from 'vitest';
import { bill, customer, expense } from '../support/finance-records.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { eventually } from '../support/eventually.ts';
import { at, type Answer, type ScriptedService } from './scripted-service.ts';
import { createServiceStarter } from './serve.ts';

// A list that never returned a page answers 404: the platform may lack it, or the service was being deployed.
const { warehouse } = await createTestDatabase();
const serve = createServiceStarter(warehouse);

const notFound = { status: 404, body: '<html>no route</html>' };
const broken = { status: 503, body: '' };

test.for([
  ['one 404', [notFound], 2],
  ['404s with another failure between', [notFound, broken, notFound], 4],
] as const)('the first sync leaves nothing out after %s', async ([, answers, requests]) => {
  const service = await company();
  const asked = answer(service, 'bills', answers);
  expect(await service.sync(['bills', 'customers'])).toMatchObject({ status: 'succeeded' });
  expect([await service.ids('bills'), asked.bills]).toEqual([['1', '2', '3'], requests]);
});

test.for(['reconcile', 'backfill'] as const)('one 404 leaves nothing out of a %s', async (kind) => {
  const service = await company();
  const asked = answer(service, 'bills', [notFound]);
  const day = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
  const run =
    kind === 'reconcile'
      ? await service.reconcile(['bills'])
      : await service.backfill(['bills'], { from: day(-2), to: day(2) });
  expect(run).toMatchObject({ status: 'succeeded' });
  expect(await service.ids('bills')).toEqual(['1', '2', '3']);
  expect(asked.bills).toBeGreaterThan(1);
});

test('one 404 from the list of refunds, beside expenses, leaves nothing out', async () => {
  const service = await company();
  let asked = 0;
  service.onList = (name, query) =>
    name === 'expenses' && query.get('expense_type') === 'refund' && asked++ === 0 ? notFound : undefined;
  expect(await service.sync(['expenses'])).toMatchObject({ status: 'succeeded' });
  expect(await service.ids('expenses')).toEqual(['1', '2']);
});

test('a list that answers 404 twice in a row is unsupported, and is requested once a day', async () => {
  const service = await company();
  const asked = answer(
    service,
    'bills',
    Array.from({ length: 10 }, () => notFound),
  );
  const sync = async (): Promise<unknown> => (await service.sync(['bills', 'customers'])).streams;
  const unsupported = [
    { stream: 'bills', status: 'unsupported' },
    { status: 'succeeded' },
    { status: 'succeeded' },
  ];
  expect(await sync()).toMatchObject(unsupported);
  expect(asked.bills).toBe(2);
  expect(await sync()).toMatchObject(unsupported);
  expect(asked.bills).toBe(2);
  await aDayLater(service);
  expect(await sync()).toMatchObject(unsupported);
  expect(asked.bills).toBe(3);
  expect(await sync()).toMatchObject(unsupported);
  expect(asked.bills).toBe(3);
});

test('a list marked unsupported is requested by the next sync once a webhook brings a record', async () => {
  const service = await company();
  answer(service, 'bills', [notFound, notFound]);
  await service.sync(['bills', 'customers']);
  expect(await readCapability(service, 'bills')).toBe('unsupported');
  await service.deliverWebhook('UPDATED', String(service.lists.bills?.[0]));
  expect(await service.ids('bills')).toEqual(['1']);
  expect(await readCapability(service, 'bills')).toBe('unknown');
  await service.sync(['bills', 'customers']);
  expect(await service.ids('bills')).toEqual(['1', '2', '3']);
});

test('a list marked unsupported by a running sync is requested by the next sync when a webhook comes meanwhile', async () => {
  const service = await company();
  answer(service, 'bills', [notFound, notFound]);
  const answerBills = service.onList;
  service.onList = async (name, query) => {
    if (name !== 'customers') return answerBills(name, query);
    service.onList = answerBills;
    await eventually(async () => {
      // The company of the webhook is known once a list has named it.
      const ended = await service.rows(
        `select from sync.run_streams where connection_id = $1
           and (stream, status) in (('bills', 'unsupported'), ('expenses', 'succeeded'))`,
      );
      return ended.length === 2 ? true : undefined;
    });
    await service.deliverWebhook('UPDATED', String(service.lists.bills?.[0]));
    return undefined;
  };
  await service.sync(['bills', 'expenses', 'customers']);
  expect(await service.ids('bills')).toEqual(['1']);
  await service.sync(['bills', 'customers']);
  expect(await service.ids('bills')).toEqual(['1', '2', '3']);
});

test('a 404 is a failure, and every sync retries, once a record has shown that the list exists', async () => {
  const service = await company();
  const asked = answer(
    service,
    'bills',
    Array.from({ length: 20 }, () => notFound),
  );
  await service.sync(['bills', 'customers']);
  await service.deliverWebhook('UPDATED', String(service.lists.bills?.[0]));
  const failed = { status: 'partial', streams: [{ stream: 'bills', failure_type: 'GaveUp' }, {}, {}] };
  expect(await service.sync(['bills', 'customers'])).toMatchObject(failed);
  const before = asked.bills ?? 0;
  expect(await service.sync(['bills', 'customers'])).toMatchObject(failed);
  expect(asked.bills).toBeGreaterThan(before);
  service.onList = () => undefined;
  expect(await service.sync(['bills', 'customers'])).toMatchObject({ status: 'succeeded' });
  expect(await service.ids('bills')).toEqual(['1', '2', '3']);
});

async function company(): Promise<ScriptedService> {
  const service = await serve();
  const old = { last_synced_at: at(-3_600_000) };
  service.lists = {
    bills: ['1', '2', '3'].map((id) => bill(id, old)),
    expenses: [expense('1', old), expense('2', { ...old, expense_type: '"refund"' })],
    customers: [customer('1', old)],
  };
  return service;
}

/** Gives these answers to the first requests for a list. Returns the number of requests. */
function answer(
  service: ScriptedService,
  list: string,
  answers: readonly NonNullable<Answer>[],
): Record<string, number> {
  const asked = { [list]: 0 };
  service.onList = (name) => {
    if (name !== list) return undefined;
    asked[list] = (asked[list] ?? 0) + 1;
    return answers[asked[list] - 1];
  };
  return asked;
}

async function aDayLater(service: ScriptedService): Promise<void> {
  await service.rows(
    `update sync.streams set capability_checked_at = capability_checked_at - interval '25 hours' where connection_id = $1`,
  );
}

async function readCapability(service: ScriptedService, stream: string): Promise<unknown> {
  const [row] = await service.rows(
    `select capability from sync.streams where connection_id = $1 and stream = '${stream}'`,
  );
  return row?.capability;
}
