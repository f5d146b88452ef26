import { expect, test } from 'vitest';
import { bill, subscription } from '../support/finance-records.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { at, page } from './scripted-service.ts';
import { createServiceStarter } from './serve.ts';

const { warehouse } = await createTestDatabase();
const serve = createServiceStarter(warehouse);
const minute = 60_000;
const night = 15 * 60 * minute;

test('an approved deletion spares records shown since, even after the service clock was corrected', async () => {
  const service = await serve();
  const all = Array.from({ length: 100 }, (_, n) => subscription(`s${String(n).padStart(3, '0')}`));
  service.lists = { subscriptions: all };
  await service.sync(['subscriptions']);
  service.lists.subscriptions = all.slice(0, 40);
  service.date = () => new Date(Date.now() + 120 * minute);
  const { id: run } = await service.reconcile(['subscriptions']);
  // The clock is corrected. All of them exist again, unchanged, and a reconcile is shown them.
  service.date = () => new Date();
  service.lists.subscriptions = all;
  service.onList = (_, query) =>
    query.get('cursor') === null
      ? page(service, 'subscriptions', all, 'next')
      : { status: 400, body: '{"error_code":"NOPE"}' };
  expect(await service.reconcile(['subscriptions'])).toMatchObject({ status: 'failed' });
  service.onList = () => undefined;
  await service.approve(['subscriptions'], { subscriptions: { records: 60, run: String(run) } });
  expect(await service.ids('subscriptions')).toHaveLength(100);
});

test('a reconcile whose listing stalled, and so proves nothing, deletes nothing', async () => {
  const service = await serve();
  const clock = { now: 0 };
  service.date = () => new Date(Date.now() + clock.now);
  const [a, b, r] = ['a', 'b', 'r'].map((id) => subscription(id));
  service.lists = { subscriptions: [a ?? '', b ?? '', r ?? ''] };
  await service.sync(['subscriptions']);
  // r is gone for some days, and exists again since last night, unchanged; its page had been read before. Each listing stalls for a
  // night after its first page.
  let listings = 0;
  let stood = 0;
  service.onList = (_, query) => {
    if (query.get('cursor') === null) {
      listings += 1;
      return page(service, 'subscriptions', [a ?? ''], `next-${listings}`);
    }
    if (stood < listings) {
      stood = listings;
      clock.now += night;
      return { status: 503, body: '' };
    }
    return page(service, 'subscriptions', [b ?? '']);
  };
  const run = await service.reconcile(['subscriptions']);
  const [{ failure } = {}] = await service.rows(
    `select failure from sync.run_streams where connection_id = $1 and failure_type = 'NotEqual'`,
  );
  expect(failure).toMatch(/stood still .* nothing proves/);
  expect({ status: run.status, ids: await service.ids('subscriptions') }).toEqual({
    status: 'partial',
    ids: ['a', 'b', 'r'],
  });
});

test('a fetch that differs from a response landed meanwhile is not taken for a lagging list', async () => {
  const service = await serve();
  // The service's clock is two hours ahead.
  const [first, second] = [120, 125].map((minutes) =>
    bill('r', { last_synced_at: at(minutes * minute), memo: `"+${minutes}"` }),
  );
  service.date = () => new Date(Date.now() + 120 * minute);
  service.lists = { bills: [bill('a'), first ?? ''] };
  await service.sync(['bills']);
  // The clock is corrected, and r is edited.
  service.date = () => new Date();
  const right = bill('r', { last_synced_at: at(-1_000), memo: '"right"' });
  service.lists.bills = [bill('a'), right];
  let fetches = 0;
  service.onFetch = async (_, id) => {
    if (id !== 'r') return undefined;
    fetches += 1;
    // An answer from before the correction, which a webhook had requested, lands now.
    if (fetches === 2)
      return { status: 200, body: `{"connection":${service.connectionJson},"bill":${second ?? ''}}` };
    if (fetches === 1) await service.deliverWebhook('UPDATED', second ?? '');
    return undefined;
  };
  const run = await service.reconcile(['bills']);
  const [{ memo } = {}] = await service.rows(
    `select memo from finance.bills where connection_id = $1 and id = 'r'`,
  );
  expect(fetches).toBe(2);
  if (run.status === 'succeeded') expect(memo).toBe('right');
});

test('an emptied list deletes nothing without approval, even if a webhook brings one record meanwhile', async () => {
  const service = await serve();
  const old = Array.from({ length: 20 }, (_, place) => bill(`b${place}`));
  service.lists = { bills: old };
  await service.sync(['bills']);
  let listings = 0;
  service.onList = async (_, query) => {
    if (query.has('last_synced_at_min') || query.get('limit') === '1') return undefined;
    listings += 1;
    if (listings === 1) {
      const fresh = bill('new', { last_synced_at: at() });
      service.lists.bills = [...old, fresh];
      await service.deliverWebhook('CREATED', fresh);
    }
    return page(service, 'bills', []);
  };
  const run = await service.reconcile(['bills']);
  expect({ status: run.status, held: (await service.ids('bills')).length }).toEqual({
    status: 'partial',
    held: 21,
  });
});

test('a difference shown only by the abandoned start of a listing leaves no doubt', async () => {
  const service = await serve();
  const clock = { now: 0 };
  service.date = () => new Date(Date.now() + clock.now);
  const before = subscription('r', { updated_at: at(-60 * minute), status: '"paused"' });
  const held = subscription('r', { updated_at: at(-minute) });
  service.lists = { subscriptions: [subscription('a'), held] };
  await service.sync(['subscriptions']);
  // In the evening the list lags. In the morning it does not, and the reconcile begins again.
  let listings = 0;
  service.onList = (_, query) => {
    if (query.get('cursor') === null) {
      listings += 1;
      return page(service, 'subscriptions', [listings === 1 ? before : held], 'next');
    }
    if (clock.now === 0) {
      clock.now += night;
      return { status: 503, body: '' };
    }
    return page(service, 'subscriptions', [subscription('a')]);
  };
  const run = await service.reconcile(['subscriptions']);
  const [{ failure } = {}] = await service.rows(
    `select failure from sync.run_streams where connection_id = $1 and run_id = '${String(run.id)}'`,
  );
  expect({ status: run.status, failure }).toEqual({ status: 'succeeded', failure: null });
});

test('two reconciles seconds apart do not trust a lagging list when the first met a clock that was behind', async () => {
  const service = await serve();
  const before = subscription('r', { updated_at: at(-60 * minute), status: '"paused"' });
  const now = subscription('r', { updated_at: at(-1_000), status: '"canceled"' });
  service.lists = { subscriptions: [subscription('a'), now] };
  await service.sync(['subscriptions']);
  // Another server of the service lags by some seconds. Its clock is two hours behind, and is corrected.
  service.onList = (_, query) =>
    query.has('updated_at_min') ? undefined : page(service, 'subscriptions', [before, subscription('a')]);
  service.date = () => new Date(Date.now() - 120 * minute);
  const first = await service.reconcile(['subscriptions']);
  service.date = () => new Date();
  const second = await service.reconcile(['subscriptions']);
  const [{ status } = {}] = await service.rows(
    `select status from finance.subscriptions where connection_id = $1 and id = 'r'`,
  );
  expect(first.status).toBe('partial');
  if (second.status === 'succeeded') expect(status).toBe('canceled');
});
