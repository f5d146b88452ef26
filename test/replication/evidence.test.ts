import { describe, expect, test } from 'vitest';
import { resourcesOfHistory, wantReconcilesWith } from '../../warehouse/reconcile/want-reconcile.ts';
import { bill, expense, subscription } from '../support/finance-records.ts';
import { buildDeletionEvent } from '../support/land-events.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { rebuildBills } from './as-commands.ts';
import { at, page, type ScriptedService } from './scripted-service.ts';
import { createServiceStarter } from './serve.ts';

// The evidence that proves a record gone, or live, when the service's answers disagree.
const { warehouse } = await createTestDatabase();
const serve = createServiceStarter(warehouse);
const minute = 60_000;

describe('one 404 from a fetch', () => {
  test('deletes nothing when the record is found next, even after another 404 was proved', async () => {
    const service = await serve();
    const young = ['y', 'z'].map((id) => bill(id, { last_synced_at: at(-minute) }));
    const old = [1, 2, 3].map((n) => bill(`b${n}`));
    service.lists = { bills: [bill('b0'), ...old, ...young] };
    await service.sync(['bills']);
    // b0 is gone. The list lags, so it shows neither y nor z.
    service.lists.bills = [...old, ...young];
    service.onList = () => page(service, 'bills', old);
    service.onFetch = (_, id) => (id === 'b0' ? notFound : undefined);
    once404(service, 'z');
    await service.reconcile(['bills']);
    expect(await service.ids('bills')).toEqual(['b1', 'b2', 'b3', 'y', 'z']);
  });

  test('does not confirm a webhook about an old deletion', async () => {
    const service = await serve();
    const old = bill('r', { last_synced_at: at(-60 * minute) });
    service.lists = { bills: [bill('a'), old] };
    await service.sync(['bills']);
    service.lists.bills = [bill('a'), bill('r', { last_synced_at: at(-minute), memo: '"again"' })];
    await service.sync(['bills']);
    once404(service, 'r');
    await service.deliverWebhook('DELETED', old);
    expect(await service.ids('bills')).toEqual(['a', 'r']);
  });
});

describe('a record re-created while a second listing is read', () => {
  test('lives when a webhook brings it, even if that listing lags', async () => {
    const service = await serve();
    service.lists = { bills: ['b1', 'b2', 'b3', 'b4', 'b5', 'r'].map((id) => bill(id)) };
    await service.sync(['bills']);
    const left = ['b4', 'b5'].map((id) => bill(id));
    service.lists.bills = left;
    let listings = 0;
    service.onList = async (_, query) => {
      if (query.has('last_synced_at_min')) return undefined;
      listings += 1;
      if (listings === 2) {
        const restored = bill('r', { last_synced_at: at(), memo: '"restored"' });
        service.lists.bills = [...left, restored];
        await service.deliverWebhook('CREATED', restored);
      }
      return page(service, 'bills', left);
    };
    await service.reconcile(['bills']);
    expect(await service.ids('bills')).toContain('r');
  });

  test('lives when a sync brings it, even if records cannot be fetched', async () => {
    const service = await serve();
    const old = [1, 2, 3, 4, 5].map((n) =>
      subscription(`s${n}`, { updated_at: `"2024-01-${10 + n}T00:00:00.000Z"` }),
    );
    const [, s2 = '', s3 = '', s4 = '', s5 = ''] = old;
    service.lists = { subscriptions: old };
    await service.sync(['subscriptions']);
    service.lists.subscriptions = [s2, s3, s4, s5];
    let lastPages = 0;
    service.onList = async (_, query) => {
      if (query.has('updated_at_min')) return undefined;
      if (query.get('cursor') === null) return page(service, 'subscriptions', [s5, s4], 'next');
      lastPages += 1;
      if (lastPages === 2) {
        const again = subscription('s1', { updated_at: at(), status: '"paused"' });
        service.lists.subscriptions = [again, s2, s3, s4, s5];
        await service.sync(['subscriptions']);
      }
      return page(service, 'subscriptions', [s3, s2]);
    };
    await service.reconcile(['subscriptions']);
    expect(await service.ids('subscriptions')).toEqual(['s1', 's2', 's3', 's4', 's5']);
  });

  test('comes back with the next sync when the second listing had passed its place', async () => {
    const service = await serve();
    const old = [1, 2, 3, 4, 5].map((n) =>
      subscription(`s${n}`, { updated_at: `"2024-01-${10 + n}T00:00:00.000Z"` }),
    );
    const [, s2 = '', s3 = '', s4 = '', s5 = ''] = old;
    let later = 0;
    service.date = () => new Date(Date.now() + later);
    service.lists = { subscriptions: old };
    await service.sync(['subscriptions']);
    service.lists.subscriptions = [s2, s3, s4, s5];
    let lastPages = 0;
    service.onList = (_, query) => {
      if (query.has('updated_at_min')) return undefined;
      if (query.get('cursor') === null) return page(service, 'subscriptions', [s5, s4], 'next');
      lastPages += 1;
      if (lastPages === 2) {
        later = minute;
        const again = subscription('s1', { updated_at: at(minute / 2), status: '"paused"' });
        service.lists.subscriptions = [again, s2, s3, s4, s5];
      }
      return page(service, 'subscriptions', [s3, s2]);
    };
    await service.reconcile(['subscriptions']);
    later = 2 * minute;
    await service.sync(['subscriptions']);
    expect(await service.ids('subscriptions')).toEqual(['s1', 's2', 's3', 's4', 's5']);
  });

  test('comes back with the next sync when the list that is read twice lags', async () => {
    const service = await serve();
    service.lists = { bills: ['b1', 'b2', 'b3', 'b4', 'b5', 'r'].map((id) => bill(id)) };
    await service.sync(['bills']);
    const left = ['b4', 'b5'].map((id) => bill(id));
    service.lists.bills = left;
    let listings = 0;
    service.onList = (_, query) => {
      if (query.has('last_synced_at_min')) return undefined;
      listings += 1;
      if (listings === 2)
        service.lists.bills = [...left, bill('r', { last_synced_at: at(), memo: '"copied anew"' })];
      return page(service, 'bills', left);
    };
    await service.reconcile(['bills']);
    await service.sync(['bills']);
    expect(listings).toBe(2);
    expect(await service.ids('bills')).toEqual(['b4', 'b5', 'r']);
  });
});

test('an approved deletion spares records that a sync has shown since', async () => {
  const service = await serve();
  const all = Array.from({ length: 100 }, (_, n) => subscription(`s${String(n).padStart(3, '0')}`));
  service.lists = { subscriptions: all };
  await service.sync(['subscriptions']);
  service.lists.subscriptions = all.slice(0, 40);
  const { id: run } = await service.reconcile(['subscriptions']);
  service.lists.subscriptions = all;
  service.date = () => new Date(Date.now() + 5_000);
  await service.sync(['subscriptions']);
  await service.approve(['subscriptions'], { subscriptions: { records: 60, run: String(run) } });
  expect(await service.ids('subscriptions')).toHaveLength(100);
});

test('an approved deletion spares records that a later failed reconcile has shown', async () => {
  const service = await serve();
  const all = Array.from({ length: 100 }, (_, n) => subscription(`s${String(n).padStart(3, '0')}`));
  service.lists = { subscriptions: all };
  await service.sync(['subscriptions']);
  service.lists.subscriptions = all.slice(0, 40);
  const { id: run } = await service.reconcile(['subscriptions']);
  service.lists.subscriptions = all;
  service.date = () => new Date(Date.now() + 5_000);
  service.onList = (_, query) =>
    query.get('cursor') === null
      ? page(service, 'subscriptions', all, 'next')
      : { status: 400, body: '{"error_code":"NOPE"}' };
  expect(await service.reconcile(['subscriptions'])).toMatchObject({ status: 'failed' });
  service.onList = () => undefined;
  await service.approve(['subscriptions'], { subscriptions: { records: 60, run: String(run) } });
  expect(await service.ids('subscriptions')).toHaveLength(100);
});

test('an approved deletion is refused when the token opens another company', async () => {
  const service = await serve();
  service.lists = { bills: ['a', 'b', 'c', 'd'].map((id) => bill(id)) };
  await service.sync(['bills']);
  service.lists.bills = [];
  const { id: run } = await service.reconcile(['bills']);
  service.onOne = () => ({
    status: 200,
    body: '{"connection":{"id":"svc-other","orgId":"other","platform":"XERO"},"bills":[],"next_cursor":null}',
  });
  await service.approve(['bills'], { bills: { records: 4, run: String(run) } });
  expect(await service.ids('bills')).toHaveLength(4);
  expect(
    await service.rows(
      `select paused_at is not null as paused from sync.connections where connection_id = $1`,
    ),
  ).toEqual([{ paused: true }]);
});

test('an ID that became a number does not prove absence, even when a concurrent sync reads it', async () => {
  const service = await serve();
  service.lists = { subscriptions: ['5', '6', '7', '8'].map((id) => subscription(id)) };
  await service.sync(['subscriptions']);
  const shown = [subscription('7', { id: '7' }), ...['5', '6', '8'].map((id) => subscription(id))];
  service.lists.subscriptions = shown;
  let lastPages = 0;
  service.onList = async (_, query) => {
    if (query.has('updated_at_min')) return undefined;
    if (query.get('cursor') === null) return page(service, 'subscriptions', shown.slice(0, 2), 'next');
    lastPages += 1;
    if (lastPages === 2) await service.sync(['subscriptions']);
    return page(service, 'subscriptions', shown.slice(2));
  };
  await service.reconcile(['subscriptions']);
  expect(await service.ids('subscriptions')).toEqual(['5', '6', '7', '8']);
});

describe('a fetch', () => {
  test('proves that a record is gone, even if its list still shows an older version', async () => {
    const service = await serve();
    const [before, held] = [-60, -1].map((minutes) =>
      bill('r', { last_synced_at: at(minutes * minute), memo: `"${minutes}"` }),
    );
    service.lists = { bills: [bill('a'), held ?? ''] };
    await service.sync(['bills']);
    service.lists.bills = [bill('a')];
    service.onList = () => page(service, 'bills', [bill('a'), before ?? '']);
    await service.reconcile(['bills']);
    expect(await service.ids('bills')).toEqual(['a']);
  });

  test('repairs a record that no list shows, after a clock was corrected', async () => {
    const service = await serve();
    const wrong = expense('x', {
      expense_type: '"refund"',
      last_synced_at: at(120 * minute),
      memo: '"ahead"',
    });
    service.lists = { expenses: [expense('e1'), wrong] };
    service.date = () => new Date(Date.now() + 120 * minute);
    await service.sync(['expenses']);
    service.date = () => new Date();
    service.lists.expenses = [expense('e1'), expense('x', { last_synced_at: at(), memo: '"right"' })];
    service.onList = (_, query) =>
      query.get('expense_type') === 'expense' ? page(service, 'expenses', [expense('e1')]) : undefined;
    await service.reconcile(['expenses']);
    expect(
      await service.rows(`select memo from finance.expenses where connection_id = $1 and id = 'x'`),
    ).toEqual([{ memo: 'right' }]);
  });
});

describe('a listing that starts over', () => {
  test('after its cursor expired forgets what it had shown', async () => {
    const service = await serve();
    service.lists = { bills: ['a', 'b', 'r'].map((id) => bill(id)) };
    await service.sync(['bills']);
    let beginnings = 0;
    service.onList = (_, query) => {
      const cursor = query.get('cursor');
      if (cursor === 'first') {
        service.lists.bills = ['a', 'b'].map((id) => bill(id));
        return { status: 400, body: '{"error_code":"INVALID_CURSOR"}' };
      }
      if (cursor === 'second') return page(service, 'bills', [bill('b')]);
      beginnings += 1;
      return beginnings === 1
        ? page(service, 'bills', [bill('r'), bill('a')], 'first')
        : page(service, 'bills', [bill('a')], 'second');
    };
    await service.reconcile(['bills']);
    expect(await service.ids('bills')).toEqual(['a', 'b']);
  });

  test('after a pause longer than the lookback forgets what it had shown', async () => {
    const service = await serve();
    service.lists = { bills: ['a', 'b', 'r'].map((id) => bill(id)) };
    await service.sync(['bills']);
    let isMorning = false;
    let beginnings = 0;
    service.date = () => new Date(Date.now() + (isMorning ? 15 * 60 * minute : 0));
    service.onList = (_, query) => {
      if (query.get('cursor') === null) {
        beginnings += 1;
        return page(service, 'bills', [...(beginnings === 1 ? [bill('r')] : []), bill('a')], 'next');
      }
      if (isMorning) return page(service, 'bills', [bill('b')]);
      isMorning = true;
      service.lists.bills = ['a', 'b'].map((id) => bill(id));
      return { status: 503, body: '' };
    };
    await service.reconcile(['bills']);
    expect(await service.ids('bills')).toEqual(['a', 'b']);
    expect(beginnings).toBe(2);
  });
});

test('a rebuild does not restore a record that was deleted while its row was missing', async () => {
  const service = await serve();
  service.lists = { bills: [bill('a'), bill('b')] };
  await service.sync(['bills']);
  for (const table of ['bill_lines', 'bills'])
    await warehouse.pool.query(`delete from finance.${table} where connection_id = $1`, [service.connection]);
  service.lists.bills = [bill('b')];
  service.events = [buildDeletionEvent('a', new Date().toISOString())];
  await service.sync(['bills']);
  await rebuildBills(warehouse, service);
  expect(await service.ids('bills')).toEqual(['b']);
});

test('line rows left by a lost bill do not block its next version', async () => {
  const service = await serve();
  service.lists = { bills: [bill('a'), bill('b')] };
  await service.sync(['bills']);
  await warehouse.pool.query(`delete from finance.bills where connection_id = $1 and id = 'a'`, [
    service.connection,
  ]);
  service.lists.bills = [bill('a', { last_synced_at: at(), memo: '"edited"' }), bill('b')];
  expect(await service.sync(['bills'])).toMatchObject({ status: 'succeeded' });
  expect(await service.ids('bills')).toEqual(['a', 'b']);
});

test('another batch of history requests a reconcile of subscriptions once they have been read', async () => {
  const service = await serve();
  const wanted = (): Promise<unknown[]> =>
    service.rows(
      `select stream from sync.streams where connection_id = $1 and reconcile_wanted_at is not null`,
    );
  service.lists = { bills: [bill('a')], subscriptions: [subscription('s')] };
  const wantHistory = async (): Promise<void> =>
    wantReconcilesWith(warehouse.pool, await resourcesOfHistory(warehouse, service.connection), () =>
      Promise.resolve(),
    );
  await service.sync(['bills']);
  await wantHistory();
  expect(await wanted()).toEqual([]);
  await service.sync(['bills', 'subscriptions']);
  await wantHistory();
  expect(await wanted()).toEqual([{ stream: 'subscriptions' }]);
});

describe('in quarantine', () => {
  test('an old deletion event does not close an entry without a version', async () => {
    const service = await serve();
    service.lists = { bills: [bill('a'), bill('r', { last_synced_at: 'null' })] };
    service.events = [buildDeletionEvent('r', '2023-01-01T00:00:00Z')];
    await service.sync(['bills']);
    expect(await open(service)).toEqual(['r']);
  });

  test('an invalid version older than the held valid one is not kept', async () => {
    const service = await serve();
    const bad = bill('r', { last_synced_at: at(-2 * minute), total_amount: '"x"' });
    service.lists = { bills: [bad, bill('r', { last_synced_at: at(-minute) })] };
    await service.sync(['bills']);
    expect(await open(service)).toEqual([]);
  });
});

const notFound = { status: 404, body: '{}' };

/** Makes the first fetch of the record answer 404; other fetches are answered as before. */
function once404(service: ScriptedService, record: string): void {
  const { onFetch } = service;
  let asked = 0;
  service.onFetch = (resource, id) =>
    id === record && (asked += 1) === 1 ? notFound : onFetch(resource, id);
}

async function open(service: ScriptedService): Promise<unknown[]> {
  const found = await service.rows(
    `select record_id from sync.quarantine where connection_id = $1 and status = 'open'`,
  );
  return found.map(({ record_id: id }) => id);
}
