import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startSandbox } from '../../sandbox/start-sandbox.ts';
import type { Sandbox } from '../../sandbox/start-sandbox.ts';
import { createSandboxAdmin } from '../support/sandbox-admin.ts';
import type { SandboxAdmin } from '../support/sandbox-admin.ts';
import { createSandboxApi, recordsOf } from './sandbox-api.ts';
import type { Page, SandboxApi } from './sandbox-api.ts';

let sandbox: Sandbox;
let api: SandboxApi;
let admin: SandboxAdmin;

beforeAll(async () => {
  sandbox = await startSandbox({ records: 300 });
  api = createSandboxApi(sandbox);
  admin = createSandboxAdmin(sandbox.adminUrl);
});
afterEach(() => admin.clearFaults());
afterAll(() => sandbox.close());

const bills = '/accounting/bills';

test.each<[InjectedStatus, string]>([
  [{ status: 500 }, 'INTERNAL_ERROR'],
  [{ status: 429, retryAfter: 'soon' }, 'RATE_LIMIT_ERROR'],
  [{ status: 451, code: 'PLATFORM_UNAUTHORIZED' }, 'PLATFORM_ERROR'],
  [{ status: 550 }, 'PLATFORM_ERROR'],
])('an injected status %o has the error body of the service', async (fault: InjectedStatus, errorType) => {
  await admin.addFault({ fault: { kind: 'status', ...fault } });
  const { status, text, headers } = await api.get(bills);
  const body = JSON.parse(text) as Record<string, unknown>;
  expect([status, body.error_type]).toEqual([fault.status, errorType]);
  expect('error_metadata' in body).toBe(fault.status >= 450 && fault.status !== 500);
  expect(headers.get('retry-after')).toBe(fault.retryAfter ?? null);
});

test('a fault affects only matching requests, after a set number and as often as set', async () => {
  await admin.addFault({
    match: { path: bills, connection: 'acme-eu', query: 'sort=last_synced_at ASC' },
    after: 1,
    times: 2,
    fault: { kind: 'status', status: 500 },
  });
  const eu = { access_token: 'sandbox-token-acme-eu', sort: 'last_synced_at ASC' };
  const statuses: number[] = [];
  for (let request = 0; request < 4; request += 1) statuses.push((await api.get(bills, eu)).status);
  expect(statuses).toEqual([200, 500, 500, 200]);
  expect((await api.get(bills, { access_token: eu.access_token })).status).toBe(200);
});

test('a fault can be limited to a time', async () => {
  await admin.addFault({ forMs: 300, fault: { kind: 'empty' } });
  expect(await api.get(bills)).toMatchObject({ status: 200, text: '' });
  await expect.poll(async () => (await api.get(bills)).text.length, { timeout: 5_000 }).toBeGreaterThan(0);
});

test("an answer can be replaced by another connection's", async () => {
  await admin.addFault({ times: 1, fault: { kind: 'another-connection', connection: 'acme-eu' } });
  const connections: unknown[] = [];
  for (let request = 0; request < 2; request += 1)
    connections.push((JSON.parse((await api.get(bills)).text) as { connection: unknown }).connection);
  expect(connections).toMatchObject([{ id: 'conn-acme-eu' }, { id: 'conn-acme-us' }]);
});

test('an answer can be HTML, be cut off or broken off, or never come', async () => {
  await admin.addFault({ times: 1, fault: { kind: 'html' } });
  expect((await api.get(bills)).text).toContain('<html>');
  const whole = (await api.get(bills)).text;
  await admin.addFault({ times: 1, fault: { kind: 'truncated' } });
  expect((await api.get(bills)).text).toBe(whole.slice(0, whole.length / 2));
  await admin.addFault({ times: 1, fault: { kind: 'cut' } });
  await expect(api.get(bills)).rejects.toThrow('terminated');
  await admin.addFault({ times: 1, fault: { kind: 'reset' } });
  await expect(api.get(bills)).rejects.toThrow('fetch failed');
  for (const kind of ['hang', 'never-ending'] as const) {
    await admin.addFault({ times: 1, fault: { kind } });
    const url = `${sandbox.url}${bills}`;
    const body = fetch(url, { signal: AbortSignal.timeout(200) }).then((response) => response.text());
    await expect(body).rejects.toThrow('timeout');
  }
});

test('a slow answer is otherwise normal', async () => {
  await admin.addFault({ times: 1, fault: { kind: 'slow', ms: 250 } });
  const started = performance.now();
  expect((await api.get(bills)).status).toBe(200);
  expect(performance.now() - started).toBeGreaterThanOrEqual(240);
});

test('a page can repeat its cursor, be empty, or claim that nothing is ready', async () => {
  const sorted = { sort: 'last_synced_at ASC', limit: '10' };
  const first = await read(sorted);
  await admin.addFault({ times: 1, fault: { kind: 'repeat-cursor' } });
  const second = await read({ ...sorted, cursor: first.next_cursor ?? '' });
  expect(second.next_cursor).toBe(first.next_cursor);
  await admin.addFault({ times: 1, fault: { kind: 'short-page', records: 0 } });
  const empty = await read({ ...sorted, cursor: first.next_cursor ?? '' });
  expect([recordsOf(empty), empty.next_cursor]).toEqual([[], first.next_cursor]);
  await admin.addFault({ times: 1, fault: { kind: 'not-ready' } });
  expect((await api.get(bills)).text).toContain('PRODUCT_NOT_READY');
});

test('records can change between two pages', async () => {
  const record = '{"id":"between","updated_at":null}';
  const add = { kind: 'add', connection: 'acme-us', resource: 'bills', record } as const;
  await admin.addFault({
    match: { path: bills },
    after: 1,
    times: 1,
    fault: { kind: 'mutate', commands: [add] },
  });
  const records = await api.readAll(bills, { sort: 'last_synced_at ASC', limit: '100' });
  expect(records.at(-1)?.id).toBe('between');
});

test('the log records requests and how they were answered, without secrets', async () => {
  await admin.clearRequests();
  await api.get(bills, { limit: '1', sort: 'updated_at DESC' });
  await admin.addFault({ times: 1, fault: { kind: 'reset' } });
  await api.get('/events', { type: 'object_deleted' }).catch(() => null);
  const requests = await admin.requests();
  expect(requests).toMatchObject([
    {
      number: 1,
      path: bills,
      query: 'limit=1&sort=updated_at+DESC',
      connection: 'acme-us',
      status: 200,
      fault: null,
      version: '2023-03-14',
    },
    { number: 2, path: '/events', connection: 'acme-us', status: null, fault: 'reset' },
  ]);
  expect(Math.abs((requests[0]?.at ?? 0) - Date.now())).toBeLessThan(60_000);
  expect(JSON.stringify(requests)).not.toContain('sandbox-token');
});

test('the flaky profile breaks about one request in twenty, the same ones for the same seed', async () => {
  const fates = await Promise.all([fatesOf(4), fatesOf(4), fatesOf(5)]);
  expect(fates[0]).toEqual(fates[1]);
  expect(fates[0]).not.toEqual(fates[2]);
  const broken = fates.flat().filter((fault) => fault !== null).length;
  expect(broken / fates.flat().length).toBeCloseTo(0.05, 1);
  expect(broken).toBeGreaterThan(10);
});

interface InjectedStatus {
  readonly status: number;
  readonly code?: string;
  readonly retryAfter?: string;
}

async function fatesOf(seed: number): Promise<(string | null)[]> {
  const flaky = await startSandbox({ records: 100, chaos: 'flaky', seed });
  const url = `${flaky.url}/accounting/items`;
  for (let request = 0; request < 200; request += 1) {
    await fetch(url, { signal: AbortSignal.timeout(100) })
      .then((response) => response.text())
      .catch(() => '');
  }
  const requests = await createSandboxAdmin(flaky.adminUrl).requests();
  await flaky.close();
  return requests.map(({ fault }) => fault);
}

async function read(query: Record<string, string>): Promise<Page> {
  return JSON.parse((await api.get(bills, query)).text) as Page;
}
