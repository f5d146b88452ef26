import { randomBytes } from 'node:crypto';
import { setTimeout as pass } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { readWebhook } from '../../source/read-webhook.ts';
import { listWebhooks } from '../../warehouse/webhooks/list-webhooks.ts';
import { storeWebhooks } from '../../warehouse/webhooks/store-webhooks.ts';
import { bill, expense, subscription } from '../support/finance-records.ts';
import { buildDeletionEvent } from '../support/land-events.ts';
import { some } from '../support/proof-test.ts';
import type { Row } from '../support/rows.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { at, ScriptedService } from './scripted-service.ts';

const { warehouse } = await createTestDatabase();
const started: ScriptedService[] = [];
afterEach(() => {
  for (const service of started.splice(0)) service.stop();
});

describe('one bad record never blocks others: a very long ID', () => {
  test.each(some([2_001, 2_700, 10_000]))('with %i random characters is quarantined', async (length) => {
    const service = await serve();
    const id = randomId(length);
    service.lists = { bills: [bill('a'), bill(id), bill('b')] };
    expect(await service.sync(['bills'])).toMatchObject({ status: 'partial' });
    expect(await service.ids('bills')).toEqual(['a', 'b']);
    expect(await readEntries(service)).toMatchObject([
      { record_id: null, reason: 'id is longer than 2000 bytes, which no index surely holds' },
    ]);
  });

  test('with 2,000 bytes lands, and can be deleted', async () => {
    const service = await serve();
    const id = randomId(2_000);
    service.lists = { bills: [bill('a'), bill('b'), bill(id)] };
    expect(await service.sync(['bills'])).toMatchObject({ status: 'succeeded' });
    expect(await service.ids('bills')).toContain(id);
    service.lists.bills = [bill('a'), bill('b')];
    expect(await service.reconcile(['bills'])).toMatchObject({ status: 'succeeded' });
    expect(await service.ids('bills')).toEqual(['a', 'b']);
  });

  test('has one quarantine entry through edits, closed when a complete listing lacks it', async () => {
    const service = await serve();
    const id = randomId(4_000);
    service.lists = { bills: [bill('a'), bill('b'), bill(id)] };
    await service.sync(['bills']);
    await service.reconcile(['bills']);
    service.lists.bills = [bill('a'), bill('b'), bill(id, { memo: '"edited"' })];
    expect(await service.reconcile(['bills'])).toMatchObject({ status: 'partial' });
    expect(await readEntries(service)).toMatchObject([{ status: 'open' }]);
    service.lists.bills = [bill('a'), bill('b')];
    expect(await service.reconcile(['bills'])).toMatchObject({ status: 'succeeded' });
    expect(await readEntries(service)).toMatchObject([{ status: 'discarded' }]);
    expect(service.requests.some((path) => path.includes(encodeURIComponent(id)))).toBe(false);
  });

  test('in a deletion event does not block other deletions', async () => {
    const service = await serve();
    service.lists = { bills: [bill('a'), bill('b')] };
    await service.sync(['bills']);
    service.lists.bills = [bill('b')];
    service.events = [
      buildDeletionEvent(randomId(8_000), '2026-01-01T00:00:00Z'),
      buildDeletionEvent('a', '2026-01-02T00:00:00Z'),
    ];
    expect(await service.sync(['bills'])).toMatchObject({ status: 'partial' });
    expect(await service.ids('bills')).toEqual(['b']);
    expect(await readEntries(service)).toMatchObject([
      { record_id: null, reason: 'a deletion of a record whose id is longer than 2000 bytes' },
    ]);
  });

  test('in a webhook does not block the storing of other webhooks', async () => {
    const service = await serve();
    service.lists = { bills: [bill('a')] };
    await service.sync(['bills']);
    const bodies = [bill('b'), bill(randomId(6_000))].map((record) =>
      Buffer.from(billWebhook(service, record)),
    );
    const webhooks = bodies.flatMap((body) => readWebhook(body) ?? []);
    await storeWebhooks(warehouse, { apiAddress: service.url, webhooks });
    expect(
      await service.rows(
        'select status, record_id from sync.webhook_inbox where connection_id = $1 order by id',
      ),
    ).toEqual(
      expect.arrayContaining([
        { status: 'waiting', record_id: 'b' },
        { status: 'ignored', record_id: null },
      ]),
    );
  });
});

describe('one bad record never blocks others: the invalid time 24:00:00.5', () => {
  test('as a version, puts the record in quarantine', async () => {
    const service = await serve();
    const version = '"2026-01-01T24:00:00.5Z"';
    service.lists = { bills: [bill('a'), bill('x', { last_synced_at: version }), bill('b')] };
    expect(await service.sync(['bills'])).toMatchObject({ status: 'partial' });
    expect(await service.ids('bills')).toEqual(['a', 'b']);
    expect(await readEntries(service)).toMatchObject([
      { record_id: 'x', reason: 'last_synced_at is not a possible date' },
    ]);
  });

  test('as the time of a deletion, does not block other deletions', async () => {
    const service = await serve();
    service.lists = { bills: [bill('a'), bill('b'), bill('c')] };
    await service.sync(['bills']);
    service.lists.bills = [bill('b')];
    service.events = [
      buildDeletionEvent('c', '2026-01-01T24:00:00.5Z'),
      buildDeletionEvent('a', '2026-01-02T00:00:00Z'),
    ];
    await service.sync(['bills']);
    expect(await service.ids('bills')).toEqual(['b', 'c']);
    expect(await readEntries(service)).toMatchObject([{ reason: 'a deletion that does not say when' }]);
  });
});

describe('one bad record never blocks others: a fetch of one absent record', () => {
  test.each(some([400, 403, 450, 451, 500, 550, 200], 2))(
    'that always answers %i does not block other deletions',
    async (status) => {
      const service = await serve();
      service.lists = { bills: ['a', 'b', 'c', 'd'].map((id) => bill(id)) };
      await service.sync(['bills']);
      service.lists.bills = [bill('d')];
      // A second listing would cost at least as many pages as there are absent records, so each of them is fetched.
      const pages = ['', 'two', 'three'];
      service.onList = (_resource, query) => {
        const at = pages.indexOf(query.get('cursor') ?? '');
        return buildPage(service, at === 0 ? [bill('d')] : [], pages[at + 1] ?? null);
      };
      service.onFetch = (_resource, id) => (id === 'a' ? { status, body: '{"error_code":"X"}' } : undefined);
      expect(await service.reconcile(['bills'])).toMatchObject({
        status: 'partial',
        streams: [{ stream: 'bills', status: 'partial', failure_type: 'NotEqual', deleted: 2 }],
      });
      expect(await service.ids('bills')).toEqual(['a', 'd']);
      expect(await service.rows(failures)).toMatchObject([
        { failure: expect.stringContaining('1 of the bills that the list shows differently') as string },
      ]);
      service.onFetch = () => undefined;
      expect(await service.reconcile(['bills'])).toMatchObject({ status: 'succeeded' });
      expect(await service.ids('bills')).toEqual(['d']);
    },
  );

  test('fails the resource when every fetch fails, since the record may not be the cause', async () => {
    const service = await serve();
    service.lists = { bills: ['a', 'b'].map((id) => bill(id)) };
    await service.sync(['bills']);
    service.lists.bills = [bill('b')];
    service.onFetch = () => ({ status: 500, body: '{}' });
    expect(await service.reconcile(['bills'])).toMatchObject({ status: 'failed' });
    expect(await service.ids('bills')).toEqual(['a', 'b']);
  });
});

describe('one bad record is quarantined, never dropped: one that was gone and returns unchanged', () => {
  const bad = subscription('x', { items: '{"not":"a list"}' });
  const good = ['5', '6', '8'].map((id) => subscription(id));

  test.each(['sync', 'reconcile'] as const)('is quarantined again after a %s', async (kind) => {
    const service = await serve();
    service.lookbackMilliseconds = 0;
    service.lists = { subscriptions: [...good, bad] };
    await service.sync(['subscriptions']);
    service.lists.subscriptions = good;
    await reconcileUntilGone(service);
    service.lists.subscriptions = [...good, bad];
    expect(await service[kind](['subscriptions'])).toMatchObject({ status: 'partial' });
    expect(await readOpenEntries(service)).toMatchObject([{ record_id: 'x' }]);
  });

  test('is quarantined again by a fetch after an announced deletion, but not by a list, which may lag', async () => {
    const service = await serve();
    const spoiled = bill('x', { memo: '7' });
    service.lists = { bills: [bill('a'), bill('b'), spoiled] };
    await service.sync(['bills']);
    service.events = [buildDeletionEvent('x', '2026-01-01T00:00:00Z')];
    await service.sync(['bills']);
    expect(await readOpenEntries(service)).toEqual([]);
    await service.sync(['bills']);
    expect(await readOpenEntries(service)).toEqual([]);
    expect(await service.reconcile(['bills'])).toMatchObject({ status: 'partial' });
    expect(await readOpenEntries(service)).toMatchObject([{ record_id: 'x' }]);
  });
});

test('records whose fetches keep failing do not block webhooks for other records', async () => {
  const service = await serve();
  service.lists = { bills: [bill('first')] };
  await service.sync(['bills']);
  const failing = Array.from({ length: 24 }, (_, index) => `failing-${index}`);
  service.onFetch = (_resource, id) => (id.startsWith('failing') ? { status: 550, body: '{}' } : undefined);
  service.lists.bills = [bill('first'), ...failing.map((id) => bill(id)), bill('good')];
  for (const id of [...failing, 'good']) await storeUpdate(service, id);
  await service.applyWebhooks();
  expect(await service.ids('bills')).toEqual(['first', 'good']);
  const held = await service.rows(
    'select webhooks_after is not null as held from sync.connections where connection_id = $1',
  );
  expect(held).toEqual([{ held: false }]);
});

test('webhooks of a connection wait when the service answers for no record', async () => {
  const service = await serve();
  service.lists = { bills: [bill('first')] };
  await service.sync(['bills']);
  service.onFetch = () => ({ status: 550, body: '{}' });
  for (const id of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) await storeUpdate(service, id);
  service.requests = [];
  await service.applyWebhooks();
  expect(service.requests.length).toBeLessThan(8);
});

async function storeUpdate(service: ScriptedService, id: string): Promise<void> {
  const body = `{"type":"BILL","code":"BILL_UPDATED","connection_id":"svc-${service.connection}","bill":{"id":"${id}","last_synced_at":${at(-1_000)}}}`;
  const webhook = readWebhook(Buffer.from(body));
  if (webhook === undefined) throw new Error('That is no webhook.');
  await storeWebhooks(warehouse, { apiAddress: service.url, webhooks: [webhook] });
}

async function serve(): Promise<ScriptedService> {
  const service = await new ScriptedService(warehouse).start();
  started.push(service);
  return service;
}

/** Characters that hardly compress. */
function randomId(length: number): string {
  return randomBytes(length).toString('base64url').slice(0, length);
}

function billWebhook(service: ScriptedService, record: string): string {
  return `{"type":"BILL","code":"BILL_UPDATED","connection_id":"svc-${service.connection}","bill":${record}}`;
}

function buildPage(
  service: ScriptedService,
  records: readonly string[],
  next: string | null,
): { status: number; body: string } {
  const connection = `{"id":"svc-${service.connection}","orgId":"org","platform":"QUICKBOOKS"}`;
  const body = `{"connection":${connection},"bills":[${records.join(',')}],"next_cursor":${JSON.stringify(next)}}`;
  return { status: 200, body };
}

/** A record that never landed is gone once two reconciles did not show it, further apart than a list may lag. */
async function reconcileUntilGone(service: ScriptedService): Promise<void> {
  for (let reconciles = 1; reconciles <= 3 && (await readOpenEntries(service)).length > 0; reconciles += 1) {
    await pass(1_100);
    await service.reconcile(['subscriptions']);
  }
  expect(await readOpenEntries(service)).toEqual([]);
}

const failures = `
  select failure from sync.run_streams
  where connection_id = $1 and failure is not null
  order by started_at desc
  limit 1`;

function readEntries(service: ScriptedService): Promise<Row[]> {
  return service.rows(
    'select record_id, reason, status, closed_why from sync.quarantine where connection_id = $1 order by id',
  );
}

async function readOpenEntries(service: ScriptedService): Promise<Row[]> {
  return (await readEntries(service)).filter(({ status }) => status === 'open');
}

test('an expense that a reconcile has read and that becomes an invalid refund does not stall the list of expenses', async () => {
  const service = await serve();
  const old = { last_synced_at: at(-3_600_000) };
  service.lists = { expenses: [expense('a', old), expense('r', { ...old, expense_type: '"refund"' })] };
  await service.sync(['expenses']);
  const [a = '', r = ''] = service.lists.expenses ?? [];
  service.lists.expenses = [a, r, expense('x', { last_synced_at: at(-60_000) })];
  await service.reconcile(['expenses']);
  const bad = { expense_type: '"refund"', transaction_date: '"2024-13-45"', last_synced_at: at(-1_000) };
  service.lists.expenses = [a, r, expense('x', bad)];
  for (let syncs = 0; syncs < 2; syncs += 1) {
    const { id: runId } = await service.sync(['expenses']);
    expect(
      await service.rows(
        `select stream, status, failure_type from sync.run_streams
         where connection_id = $1 and run_id = '${String(runId)}' and stream in ('expenses', 'refunds') order by stream`,
      ),
    ).toEqual([
      { stream: 'expenses', status: 'succeeded', failure_type: null },
      { stream: 'refunds', status: 'partial', failure_type: null },
    ]);
  }
});

test('a list stuck at an old invalid version of a record that was since fixed is stalled', async () => {
  const service = await serve();
  const a = bill('a', { last_synced_at: at(-3_600_000) });
  service.lists = { bills: [a] };
  await service.sync(['bills']);
  const bad = bill('x', { total_amount: '"much"', last_synced_at: at(-300_000) });
  service.lists.bills = [a, bad];
  await service.sync(['bills']);
  service.lists.bills = [a, bill('x', { last_synced_at: at(-200_000) })];
  await service.reconcile(['bills']);
  // A replica answers that lacks the last minutes.
  service.lists.bills = [a, bad];
  for (let syncs = 0; syncs < 2; syncs += 1) {
    const { status, streams } = await service.sync(['bills']);
    expect(status).toBe('partial');
    expect(streams).toContainEqual(expect.objectContaining({ stream: 'bills', failure_type: 'Stalled' }));
  }
  service.lists.bills = [a, bill('x', { last_synced_at: at(-200_000) })];
  expect(await service.sync(['bills'])).toMatchObject({ status: 'succeeded' });
});

test('a webhook list shows only the beginning of a very long type or code', async () => {
  const book = 'x'.repeat(1_800_000);
  const body = JSON.stringify({ type: book, code: book, connection_id: randomId(10) });
  const webhook = readWebhook(Buffer.from(body));
  await storeWebhooks(warehouse, {
    apiAddress: 'https://api.example.com',
    webhooks: webhook === undefined ? [] : [webhook],
  });
  const [newest] = await listWebhooks(warehouse, { limit: 1 });
  expect([newest?.type.length, newest?.code.length]).toEqual([100, 100]);
});
