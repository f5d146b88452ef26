import { expect, test } from 'vitest';
import { resourceNamed } from '../../resources/index.ts';
import { eraseRecord } from '../../warehouse/erase/erase-record.ts';
import { readHeld } from '../../warehouse/landing/read-held.ts';
import { bill, expense, subscription } from '../support/finance-records.ts';
import { createCompanies } from '../reconcile/company.ts';
import { at, page, type ScriptedService } from './scripted-service.ts';

// A service that sends no `Date` (API document: none is promised).
const { warehouse, clock, serve: serveWithDate } = await createCompanies();
const minute = 60_000;

async function serve(): Promise<ScriptedService> {
  const service = await serveWithDate();
  service.date = () => null;
  return service;
}

test('two lagging listings do not delete living records when one record has a future version', async () => {
  const service = await serve();
  const old = [1, 2, 3, 4, 5].map((n) => bill(`b${n}`));
  const future = bill('future', { last_synced_at: at(120 * minute) });
  service.lists = { bills: [...old, future] };
  await service.sync(['bills']);
  const fresh = ['x', 'y'].map((id) => bill(id, { last_synced_at: at(-2_000) }));
  service.lists.bills = [...old, ...fresh, future];
  for (const record of fresh) await service.deliverWebhook('CREATED', record);
  expect(await service.ids('bills')).toHaveLength(8);
  // The list lags by some seconds, for as long as the reconcile takes; fetches would find both.
  service.onList = () => page(service, 'bills', [...old, future]);
  const run = await service.reconcile(['bills']);
  service.onList = () => undefined;
  const afterReconcile = await service.ids('bills');
  await service.sync(['bills']);
  // An edit of x now does not bring it back either.
  const edited = bill('x', { last_synced_at: at(0), memo: '"edited"' });
  service.lists.bills = [...old, fresh[1] ?? '', edited, future];
  await service.deliverWebhook('UPDATED', edited);
  await service.sync(['bills']);
  const afterSync = await service.ids('bills');
  expect({ status: run.status, afterReconcile, afterSync }).toEqual({
    status: 'succeeded',
    afterReconcile: ['b1', 'b2', 'b3', 'b4', 'b5', 'future', 'x', 'y'],
    afterSync: ['b1', 'b2', 'b3', 'b4', 'b5', 'future', 'x', 'y'],
  });
});

test.each(['ends', 'is refused its cursor'])(
  'a record that a list shows late is read, when the service clock is behind and the stalled read %s',
  async (end) => {
    const service = await serve();
    const time = createSkewedTime(-30 * 60 * minute);
    const first = billAt('first', time.shown());
    let isOver = false;
    service.onList = async (resource, query) => {
      if (isOver) return undefined;
      if (query.get('cursor') === null) return page(service, resource, [first], 'next');
      if (query.get('cursor') === 'last') {
        // A request without a limit is not the retry with a smaller page.
        isOver = query.get('limit') === null;
        return { status: 400, body: '{"error_code":"INVALID_CURSOR"}' };
      }
      await time.pass(5 * minute);
      const late = billAt('late', time.shown() + 1_000 - service.lookbackMilliseconds);
      await time.pass(5 * minute);
      const last = billAt('last', time.shown());
      service.lists.bills = [late, first, last];
      isOver = end === 'ends';
      return page(service, resource, [last], isOver ? undefined : 'last');
    };
    await service.sync(['bills']);
    await time.pass(minute);
    await service.sync(['bills']);
    expect(await service.ids('bills')).toEqual(['first', 'last', 'late']);
  },
);

test('a service time first sent with a later page is not taken as the start of the read', async () => {
  const service = await serve();
  const time = createSkewedTime(0);
  const first = billAt('first', time.shown());
  service.onList = async (resource, query) => {
    if (query.get('cursor') === null) return page(service, resource, [first], 'next');
    await time.pass(5 * minute);
    const late = billAt('late', time.shown() + 1_000 - service.lookbackMilliseconds);
    await time.pass(5 * minute);
    service.date = () => new Date(time.shown());
    const last = billAt('last', time.shown());
    service.lists = { bills: [late, first, last] };
    return page(service, resource, [last]);
  };
  await service.sync(['bills']);
  service.onList = () => undefined;
  await service.sync(['bills']);
  expect(await service.ids('bills')).toEqual(['first', 'last', 'late']);
});

/** Time that passes for the database and for the service, whose clock is wrong by `error` milliseconds. */
function createSkewedTime(error: number): { shown(): number; pass(milliseconds: number): Promise<void> } {
  let passed = 0;
  return {
    shown: () => Date.now() + passed + error,
    async pass(milliseconds) {
      passed += milliseconds;
      await clock.ahead(`${passed} milliseconds`);
    },
  };
}

function billAt(id: string, milliseconds: number): string {
  return bill(id, { last_synced_at: `"${new Date(milliseconds).toISOString()}"` });
}

test('an approved deletion spares records that a later failed reconcile has shown', async () => {
  const service = await serve();
  const all = Array.from({ length: 100 }, (_, n) =>
    subscription(`s${String(n).padStart(3, '0')}`, n < 40 ? { updated_at: at(-minute) } : {}),
  );
  service.lists = { subscriptions: all };
  await service.sync(['subscriptions']);
  service.lists.subscriptions = all.slice(0, 40);
  const { id: run } = await service.reconcile(['subscriptions']);
  // All of them exist again, unchanged, and a reconcile is shown them.
  service.lists.subscriptions = all;
  service.onList = (_, query) =>
    query.get('cursor') === null
      ? page(service, 'subscriptions', all, 'next')
      : { status: 400, body: '{"error_code":"NOPE"}' };
  expect(await service.reconcile(['subscriptions'])).toMatchObject({ status: 'failed' });
  service.onList = () => undefined;
  const approved = await service.approve(['subscriptions'], {
    subscriptions: { records: 60, run: String(run) },
  });
  const afterApproval = (await service.ids('subscriptions')).length;
  await service.sync(['subscriptions']);
  const afterSync = (await service.ids('subscriptions')).length;
  expect({ approved: approved.status, afterApproval, afterSync }).toMatchObject({
    afterApproval: 100,
    afterSync: 100,
  });
});

test('a list that lags for seconds over two reconciles does not replace a newer version with an older one', async () => {
  const service = await serve();
  const [before, now] = [-60, -1].map((minutes) =>
    bill('r', { last_synced_at: at(minutes * minute), memo: `"${minutes}"` }),
  );
  service.lists = { bills: [bill('a'), before ?? ''] };
  await service.sync(['bills']);
  service.lists.bills = [bill('a'), now ?? ''];
  await service.deliverWebhook('UPDATED', now ?? '');
  expect(await memo(service)).toBe('-1');
  // The list lags, and a fetch of r is refused once.
  service.onList = () => page(service, 'bills', [bill('a'), before ?? '']);
  service.onFetch = (_, id) => (id === 'r' ? { status: 403, body: '{}' } : undefined);
  const first = await service.reconcile(['bills']);
  service.onFetch = () => undefined;
  const second = await service.reconcile(['bills']);
  expect({ first: first.status, second: second.status, memo: await memo(service) }).toEqual({
    first: 'partial',
    second: 'succeeded',
    memo: '-1',
  });
});

test('an erased record is not restored by a list that lags for seconds over two reconciles', async () => {
  const service = await serve();
  const all = ['a', 'b', 'c', 'e'].map((id) => subscription(id));
  service.lists = { subscriptions: all };
  const { id: runId } = await service.sync(['subscriptions']);
  service.lists.subscriptions = all.slice(0, 3);
  const erased = { connectionId: service.connection, resource: resourceNamed('subscriptions'), id: 'e' };
  const heldBefore = await readHeld(warehouse.pool, erased);
  await eraseRecord(warehouse, { ...erased, runId: String(runId), goneAt: null, heldBefore });
  // Another server of the service still lists the record, for some seconds.
  service.onList = () => page(service, 'subscriptions', all);
  const first = await service.reconcile(['subscriptions']);
  const second = await service.reconcile(['subscriptions']);
  const versions = await service.rows(
    `select op from history.record_versions where connection_id = $1 and record_id = 'e' and payload is not null`,
  );
  expect({
    first: first.status,
    second: second.status,
    ids: await service.ids('subscriptions'),
    versions,
  }).toMatchObject({ ids: ['a', 'b', 'c'], versions: [] });
});

test('a reconcile that reads one list of a resource one night before the other does not falsely succeed', async () => {
  const service = await serve();
  service.lists = { expenses: [expense('e1'), expense('e2'), refund('r1')] };
  await service.sync(['expenses']);
  let isMorning = false;
  service.onList = async (_, query) => {
    if (query.get('expense_type') !== 'refund' || isMorning) return undefined;
    await service.untilListed('expenses');
    isMorning = true;
    await clock.ahead('15 hours');
    service.lists.expenses = [expense('e1'), refund('r1')];
    return { status: 429, body: '{}' };
  };
  const run = await service.reconcile(['expenses']);
  expect({ status: run.status, ids: await service.ids('expenses') }).toEqual({
    status: 'succeeded',
    ids: ['e1', 'r1'],
  });
});

test('a reconcile whose second listing has its cursor expire overnight does not falsely succeed', async () => {
  const service = await serve();
  const all = ['a', 'b', 'r', 'x', 'y', 'z'].map((id) => bill(id));
  service.lists = { bills: all };
  await service.sync(['bills']);
  service.lists.bills = ['a', 'b', 'r'].map((id) => bill(id));
  let beginnings = 0;
  service.onList = async (_, query) => {
    const cursor = query.get('cursor');
    if (cursor === null) {
      beginnings += 1;
      if (beginnings === 1) return undefined;
      if (beginnings === 2) return page(service, 'bills', [bill('a')], 'evening');
      return undefined;
    }
    service.lists.bills = ['a', 'b'].map((id) => bill(id));
    await clock.ahead('15 hours');
    return { status: 400, body: '{"error_code":"INVALID_CURSOR"}' };
  };
  const run = await service.reconcile(['bills']);
  expect({ status: run.status, ids: await service.ids('bills') }).toEqual({
    status: 'succeeded',
    ids: ['a', 'b'],
  });
});

function refund(id: string): string {
  return expense(id, { expense_type: '"refund"' });
}

async function memo(service: ScriptedService): Promise<unknown> {
  const [found] = await service.rows(`select memo from finance.bills where connection_id = $1 and id = 'r'`);
  return found?.memo;
}
