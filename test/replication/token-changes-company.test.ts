import { expect, test } from 'vitest';
import { bill, subscription } from '../support/finance-records.ts';
import { buildDeletionEvent } from '../support/land-events.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { resumeConnection } from '../../warehouse/connections/resume-connection.ts';
import { at, type Answer, type ScriptedService } from './scripted-service.ts';
import { createServiceStarter } from './serve.ts';

// The token opens another company from the middle of a run, after an answer that still named the right one.
const { warehouse } = await createTestDatabase();
const serve = createServiceStarter(warehouse);

test('a reconcile deletes nothing because of responses received while the token opened another company', async () => {
  const service = await serve();
  const c = bill('c', { last_synced_at: at(-1_000) });
  service.lists = { bills: [bill('a'), bill('b'), c] };
  await service.sync(['bills']);
  let isAnother = false;
  service.onList = (resource) => {
    if (resource !== 'bills' || isAnother) return undefined;
    isAnother = true;
    return buildPage(service.connectionJson, 'bills', [bill('a'), bill('b')]);
  };
  service.onFetch = () => (isAnother ? { status: 410, body: '{}' } : undefined);
  service.onOne = () => (isAnother ? buildPage(another, 'bills', []) : undefined);
  await expectRefused(service, () => service.reconcile(['bills']));
  expect(await service.ids('bills')).toEqual(['a', 'b', 'c']);
});

test('a reconcile whose last response names another company is refused', async () => {
  const service = await serve();
  service.lists = { bills: [bill('a'), bill('b')] };
  await service.sync(['bills']);
  service.onOne = () => buildPage(another, 'bills', []);
  await expectRefused(service, () => service.reconcile(['bills']));
});

test.each(['sync', 'reconcile'] as const)(
  'a page that names no company is not landed by a %s once the token opens another company',
  async (run) => {
    const service = await serve();
    service.lists = { bills: [bill('a')], subscriptions: [subscription('s-a')] };
    await service.sync(['bills', 'subscriptions']);
    service.onList = (resource) =>
      resource === 'subscriptions'
        ? { status: 200, body: `{"subscriptions":[${subscription('s-of-another')}],"next_cursor":null}` }
        : undefined;
    service.onOne = () => buildPage(another, 'bills', []);
    await expectRefused(service, () => service[run](['bills', 'subscriptions']));
    expect(await service.ids('subscriptions')).toEqual(['s-a']);
  },
);

test('events read while the token opens another company delete nothing', async () => {
  const service = await serve();
  service.lists = { bills: [bill('a')] };
  await service.sync(['bills']);
  service.events = [buildDeletionEvent('a', new Date().toISOString())];
  service.onOne = () => buildPage(another, 'bills', []);
  await expectRefused(service, () => service.sync(['bills']));
  expect(await service.ids('bills')).toEqual(['a']);
});

test('events of another company do not move the watermark, so events of the right company are read later', async () => {
  const service = await serve();
  service.lists = { bills: [bill('a'), bill('b')] };
  const hour = 3_600_000;
  const ago = (milliseconds: number): string => new Date(Date.now() - milliseconds).toISOString();
  await service.sync(['bills']);
  service.events = [buildDeletionEvent('of-another', ago(0), { resource: '"INVOICE"' })];
  service.onOne = () => buildPage(another, 'bills', []);
  await expectRefused(service, () => service.sync(['bills']));
  service.events = [buildDeletionEvent('a', ago(hour))];
  service.onOne = () => undefined;
  await resumeConnection(warehouse, { connectionId: service.connection });
  expect(await service.sync(['bills'])).toMatchObject({ status: 'succeeded' });
  expect(await service.ids('bills')).toEqual(['b']);
});

test('a sync of an unordered list is refused when the company changes before a last page that names none', async () => {
  const service = await serve();
  service.lists = { bills: [bill('a')], subscriptions: [subscription('s-a')] };
  await service.sync(['bills', 'subscriptions']);
  const pages = [
    `{"subscriptions":[${subscription('s-a')}],"next_cursor":"two"}`,
    `{"subscriptions":[],"next_cursor":null}`,
  ];
  let page = 0;
  service.onList = (_resource, query) => {
    page = query.get('cursor') === null ? 0 : 1;
    return { status: 200, body: pages[page] ?? '' };
  };
  service.onOne = () => buildPage(page === 0 ? service.connectionJson : another, 'bills', []);
  await expectRefused(service, () => service.sync(['subscriptions']));
});

test('a backfill window is not done because of an empty page from another company', async () => {
  const service = await serve();
  service.lists = { bills: [bill('a')], subscriptions: [subscription('s-a')] };
  await service.sync(['bills', 'subscriptions']);
  let windows = 0;
  service.onList = () => {
    windows += 1;
    return { status: 200, body: '{"subscriptions":[],"next_cursor":null}' };
  };
  // For the first window the right company is still named.
  service.onOne = () => buildPage(windows < 2 ? service.connectionJson : another, 'bills', []);
  await expectRefused(service, () =>
    service.backfill(['subscriptions'], { from: '2024-01-01', to: '2024-03-31' }),
  );
  expect(windows).toBe(2);
});

test('a deletion webhook deletes nothing when another company may have answered its fetch', async () => {
  const service = await serve();
  service.lists = { bills: [bill('a'), bill('b')] };
  await service.sync(['bills']);
  service.onFetch = (_resource, id) => (id === 'a' ? { status: 410, body: '{}' } : undefined);
  service.onOne = () => buildPage(another, 'bills', []);
  await service.deliverWebhook('DELETED', bill('a')).catch(() => undefined);
  expect(await service.ids('bills')).toEqual(['a', 'b']);
  expect(await pausedBecause(service)).toContain('company');
});

const another = '{"id":"svc-another","orgId":"another-org","platform":"QUICKBOOKS"}';

function buildPage(connection: string, resource: string, records: readonly string[]): Answer {
  return {
    status: 200,
    body: `{"connection":${connection},"${resource}":[${records.join(',')}],"next_cursor":null}`,
  };
}

async function expectRefused(
  service: ScriptedService,
  run: () => Promise<Record<string, unknown>>,
): Promise<void> {
  expect(await run()).toMatchObject({ status: 'failed' });
  expect(await pausedBecause(service)).toContain('company');
}

async function pausedBecause(service: ScriptedService): Promise<unknown> {
  const [found] = await service.rows('select paused_why from sync.connections where connection_id = $1');
  return found?.paused_why;
}
