import { afterAll, beforeAll, expect, test } from 'vitest';
import { startSandbox } from '../../sandbox/start-sandbox.ts';
import type { Sandbox } from '../../sandbox/start-sandbox.ts';
import { createSandboxAdmin } from '../support/sandbox-admin.ts';
import type { SandboxAdmin } from '../support/sandbox-admin.ts';
import { createSandboxApi, recordsOf } from './sandbox-api.ts';
import type { Page, SandboxApi, SandboxRecord } from './sandbox-api.ts';

let sandbox: Sandbox;
let api: SandboxApi;
let admin: SandboxAdmin;

beforeAll(async () => {
  sandbox = await startSandbox({ records: 300 });
  api = createSandboxApi(sandbox);
  admin = createSandboxAdmin(sandbox.adminUrl);
  await admin.configure({ requestsPer10s: 100_000 });
});
afterAll(() => sandbox.close());

const us = { connection: 'acme-us' } as const;
const usBill = { ...us, resource: 'bills' } as const;

test('a change keeps every digit as written, and updates both times', async () => {
  const [before = ''] = await admin.content('acme-us', 'bills', { limit: 1 });
  const { id } = JSON.parse(before) as SandboxRecord;
  const now = await admin.now();
  const patch = String.raw`{"total_amount":123456789012345678.100000000,"memo":"a\u0000b","extra":1E400,"vendor_id":null}`;
  await admin.execute({ kind: 'change', ...usBill, id, patch, remove: ['currency_rate'] });
  const { text } = await api.get(`/accounting/bills/${id}`);
  for (const member of [
    '"total_amount":123456789012345678.100000000',
    String.raw`"memo":"a\u0000b"`,
    '"extra":1E400',
    '"vendor_id":null',
  ]) {
    expect(text).toContain(member);
  }
  expect(text).not.toContain('currency_rate');
  const { bill } = JSON.parse(text) as { bill: SandboxRecord };
  expect(Date.parse(bill.last_synced_at)).toBeGreaterThanOrEqual(now);
  expect(bill.updated_at).toBe(bill.last_synced_at);
  const [newest] = recordsOf(JSON.parse((await api.get('/accounting/bills', { limit: '1' })).text) as Page);
  expect(newest?.id).toBe(id);
});

test('a touch updates last_synced_at and nothing else, even on a changed record', async () => {
  const lines = await admin.content('acme-us', 'customers');
  const ids = lines.slice(0, 2).map((line) => (JSON.parse(line) as SandboxRecord).id);
  const [first = ''] = ids;
  await admin.execute({ kind: 'change', ...us, resource: 'customers', id: first, patch: '{"phone":"0"}' });
  const before = await contentById('customers');
  await admin.execute({ kind: 'touch', ...us, resource: 'customers', ids });
  const after = await contentById('customers');
  for (const id of ids) {
    expect(after.get(id)?.last_synced_at).not.toBe(before.get(id)?.last_synced_at);
    expect(after.get(id)).toEqual({ ...before.get(id), last_synced_at: after.get(id)?.last_synced_at });
  }
  expect(after.size).toBe(before.size);
});

test('a record added late may have an old updated_at, and appears by last_synced_at', async () => {
  const from = String(await admin.now());
  const record =
    '{"id":"late-1","platform_id":"L1","memo":"late","updated_at":"2020-01-01T00:00:00.000Z","platform_data":{"raw":1.10}}';
  await admin.execute({ kind: 'add', ...usBill, record });
  const [found] = await api.readAll('/accounting/bills', {
    last_synced_at_min: from,
    sort: 'last_synced_at ASC',
  });
  expect(found).toMatchObject({ id: 'late-1', updated_at: '2020-01-01T00:00:00.000Z' });
  expect(
    (await api.get('/accounting/bills', { expand: 'platform_data', updated_at_max: '1577836800000' })).text,
  ).toContain('"platform_data":{"raw":1.10}');
  expect((await api.get('/accounting/bills/L1', { id_type: 'platform' })).text).toContain('"late-1"');
});

test('a record without an ID or last_synced_at can be added as it is', async () => {
  const record = '{ "memo": 42,\n "last_synced_at": null, "memo": 43 }';
  await admin.execute({ kind: 'add', ...usBill, record, keepLastSyncedAt: true });
  const { text } = await api.get('/accounting/bills', { sort: 'last_synced_at DESC', limit: '1' });
  expect(text).toContain(record);
});

test.each([
  ['with white space around it', ' {"id":"spaced"}\n', '{"id":"spaced","platform_data":{}}'],
  ['with white space in it', '{"id":"airy"\n}', '{"id":"airy"\n,"platform_data":{}}'],
  ['without a member', '{ }', '{ "platform_data":{}}'],
])('a record added as it is %s is valid JSON in expanded lists', async (_, record, expanded) => {
  await admin.execute({ kind: 'add', ...us, resource: 'items', record, keepLastSyncedAt: true });
  const query = { sort: 'last_synced_at DESC', limit: '1', expand: 'platform_data' };
  const { text } = await api.get('/accounting/items', query);
  expect(text).toContain(expanded);
  const [first] = recordsOf(JSON.parse(text) as Page);
  expect(first).toEqual(JSON.parse(expanded));
  const lines = await admin.content('acme-us', 'items', { expandPlatformData: true });
  expect(lines.map((line) => JSON.parse(line) as unknown)).toContainEqual(first);
});

test('a deleted record is gone from lists and fetches, and leaves one event', async () => {
  const from = String(await admin.now());
  const id = await firstId('acme-us', 'bills');
  await admin.execute({ kind: 'delete', ...usBill, id });
  expect((await api.get(`/accounting/bills/${id}`)).status).toBe(410);
  expect((await contentById('bills')).has(id)).toBe(false);
  const [event, ...others] = await events({ last_synced_at_min: from });
  expect(event).toMatchObject({ resource: 'BILL', type: 'object_deleted', data: { id } });
  expect(others).toEqual([]);
});

test.each([
  ['acme-us', 'bill_credit_memos', 0],
  ['acme-us', 'subscriptions', 0],
  ['acme-us', 'customers', 1],
  ['acme-us', 'items', 1],
  ['acme-us', 'expenses', 1],
  ['acme-eu', 'bill_credit_memos', 1],
  ['acme-uk', 'bills', 0],
] as const)('a deletion on %s of one of its %s leaves %i events', async (connection, resource, expected) => {
  const token = { access_token: `sandbox-token-${connection}` };
  const before = await events(token);
  await admin.execute({ kind: 'delete', connection, resource, id: await firstId(connection, resource) });
  expect((await events(token)).length - before.length).toBe(expected);
});

test('a deletion can be made to leave no event', async () => {
  const before = await events({});
  await admin.execute({ kind: 'delete', ...usBill, id: await firstId('acme-us', 'bills'), event: false });
  expect(await events({})).toEqual(before);
});

test('a recreated record is the same with a newer last_synced_at, and its deletion event stays', async () => {
  const id = await firstId('acme-us', 'items');
  const before = (await contentById('items')).get(id);
  await admin.execute(
    { kind: 'delete', ...us, resource: 'items', id },
    { kind: 'recreate', ...us, resource: 'items', id },
  );
  const after = (await contentById('items')).get(id);
  expect(after).toEqual({ ...before, last_synced_at: after?.last_synced_at });
  expect((await events({ resources: 'ITEMS,VENDOR' })).map(({ data }) => data.id)).toContain(id);
});

test('events are paged, filtered by resource, and require a type', async () => {
  const all = await events({});
  const paged = await api.readAll('/events', { type: 'object_deleted', limit: '1' });
  expect(paged.map(({ id }) => id)).toEqual(all.map(({ id }) => id));
  expect(all.map(({ last_synced_at }) => last_synced_at)).toEqual(
    all
      .map(({ last_synced_at }) => last_synced_at)
      .sort()
      .reverse(),
  );
  const ofBills = await events({ resources: 'BILL' });
  expect(new Set(ofBills.map(({ resource }) => resource))).toEqual(new Set(['BILL']));
  expect((await api.get('/events')).status).toBe(400);
  expect((await api.get('/events', { type: 'object_created' })).status).toBe(400);
});

test('events refuse undocumented resources and values, and are unavailable before the first sync ends', async () => {
  const asked = { type: 'object_deleted' };
  const refused = [{ resources: 'BILLS' }, { resources: 'BILL,bill' }, { expand: 'everything' }];
  for (const query of refused) expect((await api.get('/events', { ...asked, ...query })).status).toBe(400);
  expect((await api.get('/events', { ...asked, expand: 'platform_data' })).status).toBe(200);
  await admin.execute({ kind: 'delete', ...usBill, id: await firstId('acme-us', 'bills') });
  await admin.execute({
    kind: 'delete',
    ...us,
    resource: 'expenses',
    id: await firstId('acme-us', 'expenses'),
  });
  const both = await events({ resources: 'BILL, EXPENSE' });
  expect(new Set(both.map(({ resource }) => resource))).toEqual(new Set(['BILL', 'EXPENSE']));
  const unready = { kind: 'add-connection', name: 'unready', platform: 'QUICKBOOKS', records: 100 } as const;
  await admin.execute({ ...unready, ready: false });
  const forced = { access_token: 'sandbox-token-unready', force_fetch: 'true' };
  expect((await api.get('/accounting/bills', forced)).status).toBe(200);
  expect((await api.get('/events', { ...asked, ...forced })).status).toBe(400);
});

test('lists can lag behind fetches and events', async () => {
  await admin.configure({ listLagMs: 60_000, requestsPer10s: 100_000 });
  const id = await firstId('acme-us', 'expenses');
  await admin.execute({ kind: 'change', ...us, resource: 'expenses', id, patch: '{"memo":"fresh"}' });
  const listed = await api.readAll('/accounting/expenses', { limit: '500' });
  expect(listed.map((record) => record.id)).not.toContain(id);
  expect((await api.get(`/accounting/expenses/${id}`)).text).toContain('fresh');
  await admin.configure({ requestsPer10s: 100_000 });
});

test("the service's clock can be shifted and frozen", async () => {
  const hour = 3_600_000;
  await admin.execute({ kind: 'set-clock', offsetMs: -5 * hour });
  expect(Math.abs((await admin.now()) - (Date.now() - 5 * hour))).toBeLessThan(60_000);
  await admin.execute({ kind: 'set-clock', frozenAt: Date.UTC(2030, 0, 1) });
  await admin.execute({ kind: 'touch', ...us, resource: 'customers', every: 3 });
  const times = [...(await contentById('customers')).values()].map(({ last_synced_at }) => last_synced_at);
  expect(times.filter((time) => time === '2030-01-01T00:00:00.000Z')).toHaveLength(
    Math.ceil(times.length / 3),
  );
  await admin.execute({ kind: 'set-clock' });
});

test('a day of activity changes, touches and deletes records of every resource, and returns its commands', async () => {
  const counts = (await admin.connection('acme-us')).counts;
  const commands = await admin.activity({ ...us, seed: 5, changes: 2, touches: 1, deletes: 1 });
  expect(commands.filter(({ kind }) => kind === 'change')).toHaveLength(12);
  const after = (await admin.connection('acme-us')).counts;
  expect(after).toEqual(Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, count - 1])));
});

test('a command that is invalid or names nothing is refused', async () => {
  await expect(admin.execute({ kind: 'delete', ...usBill, id: 'nobody' })).rejects.toThrow(
    'No bills record nobody',
  );
  await expect(admin.execute({ kind: 'make-ready', connection: 'nobody' })).rejects.toThrow(
    'No connection named nobody',
  );
  await expect(admin.execute({ kind: 'add', ...usBill, record: '{"id":' })).rejects.toThrow(
    'must be a JSON object',
  );
  const twice = { kind: 'add-connection', name: 'acme-us', platform: 'XERO', records: 100 } as const;
  await expect(admin.execute(twice)).rejects.toThrow('already');
});

async function contentById(resource: 'bills' | 'customers' | 'items'): Promise<Map<string, SandboxRecord>> {
  const lines = await admin.content('acme-us', resource);
  return new Map(lines.map((line) => JSON.parse(line) as SandboxRecord).map((record) => [record.id, record]));
}

async function firstId(
  connection: string,
  resource: Parameters<SandboxAdmin['content']>[1],
): Promise<string> {
  const [line = ''] = await admin.content(connection, resource, { limit: 1 });
  return (JSON.parse(line) as SandboxRecord).id;
}

async function events(query: Record<string, string>): Promise<Event[]> {
  return (await api.readAll('/events', { type: 'object_deleted', ...query })) as unknown as Event[];
}

interface Event {
  readonly id: string;
  readonly resource: string;
  readonly last_synced_at: string;
  readonly data: { readonly id: string };
}
