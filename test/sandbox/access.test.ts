import { afterAll, beforeAll, expect, test } from 'vitest';
import { startSandbox } from '../../sandbox/start-sandbox.ts';
import type { Sandbox } from '../../sandbox/start-sandbox.ts';
import { createSandboxAdmin } from '../support/sandbox-admin.ts';
import type { SandboxAdmin } from '../support/sandbox-admin.ts';
import { basicAuth, createSandboxApi, recordsOf } from './sandbox-api.ts';
import type { Page, SandboxApi } from './sandbox-api.ts';

let sandbox: Sandbox;
let api: SandboxApi;
let admin: SandboxAdmin;

beforeAll(async () => {
  sandbox = await startSandbox({ records: 200 });
  api = createSandboxApi(sandbox);
  admin = createSandboxAdmin(sandbox.adminUrl);
});
afterAll(() => sandbox.close());

const bills = '/accounting/bills';
const tokenOf = (name: string) => ({ access_token: `sandbox-token-${name}` });

test('a request without the right credentials gets 401', async () => {
  expect((await api.get(bills)).status).toBe(200);
  for (const authorization of [null, 'Bearer x', basicAuth('sandbox-client', 'wrong'), basicAuth('', '')]) {
    const { status, text } = await api.get(bills, {}, { authorization });
    expect(status).toBe(401);
    expect(Object.keys(JSON.parse(text) as object)).toEqual(['error_type', 'error_code', 'error_message']);
  }
});

test.each([
  ['of another type than JSON', 'text/csv', '{}', 415],
  ['that is no JSON', 'application/json', '{', 400],
])('the admin port refuses a body %s', async (_, type, body, status) => {
  const answer = await fetch(`${sandbox.adminUrl}/settings`, {
    method: 'PUT',
    headers: { 'content-type': type },
    body,
  });
  expect(answer.status).toBe(status);
});

test('every answer carries a request ID, including errors', async () => {
  const ids = await Promise.all([
    api.get(bills),
    api.get('/nowhere'),
    api.get(bills, {}, { authorization: null }),
  ]);
  const seen = ids.map(({ headers }) => headers.get('x-service-request-id'));
  expect(new Set(seen).size).toBe(3);
  expect(seen).not.toContain(null);
});

test('an access token is required and must be known', async () => {
  expect((await api.get(bills, { access_token: null })).status).toBe(400);
  expect((await api.get(bills, { access_token: 'other' })).status).toBe(401);
});

test('the older version has amount_due as text and currency without _code, and is the default', async () => {
  const query = { limit: '1', sort: 'last_synced_at ASC' };
  const shapes = await Promise.all(
    ['2023-03-14', '2023-02-07', null].map(async (version) => {
      const { text } = await api.get(bills, query, { 'x-service-version': version });
      return recordsOf(JSON.parse(text) as Page)[0];
    }),
  );
  const [newer, older, unnamed] = shapes;
  expect(typeof newer?.amount_due).toBe('number');
  expect(typeof older?.amount_due).toBe('string');
  expect(Number(older?.amount_due)).toBe(newer?.amount_due);
  expect([older?.currency, older?.currency_code]).toEqual([newer?.currency_code, undefined]);
  expect(unnamed).toEqual(older);
  expect((await api.get(bills, query, { 'x-service-version': '2024-04-30' })).status).toBe(400);
});

test('a list that the platform lacks is a 404, and so is an undocumented write', async () => {
  expect((await api.get('/subscriptions', tokenOf('acme-eu'))).status).toBe(404);
  expect((await api.get(bills, tokenOf('acme-subscriptions'))).status).toBe(404);
  expect((await api.get('/subscriptions', tokenOf('acme-subscriptions'))).status).toBe(200);
  expect((await api.get('/accounting/invoices')).status).toBe(404);
  const undocumented = [
    ['DELETE', '/accounting/customers/1'],
    ['PATCH', '/accounting/bill_credit_memos/1'],
    ['DELETE', '/accounting/bill_credit_memos/1'],
    ['POST', '/subscriptions'],
    ['DELETE', '/accounting/items/1'],
  ] as const;
  for (const [method, path] of undocumented) expect((await api.send(method, path, '{}')).status).toBe(404);
});

test('a record can be fetched by its ID or platform ID, and a missing one is a 410', async () => {
  const [text = ''] = await admin.content('acme-us', 'bills', { limit: 1 });
  const { id, platform_id: platformId } = JSON.parse(text) as { id: string; platform_id: string };
  const fetched = await api.get(`${bills}/${id}`);
  expect(fetched.text).toBe(
    `{"connection":{"id":"conn-acme-us","orgId":"org-sandbox","platform":"QUICKBOOKS"},"bill":${text}}`,
  );
  expect((await api.get(`${bills}/${platformId}`, { id_type: 'platform' })).text).toBe(fetched.text);
  expect((await api.get(`${bills}/${platformId}`)).status).toBe(410);
  expect((await api.get(`${bills}/no-such-id`)).status).toBe(410);
  expect((await api.get('/subscriptions/any')).status).toBe(404);
  await admin.configure({ missingRecordStatus: 404 });
  expect((await api.get(`${bills}/no-such-id`)).status).toBe(404);
  await admin.configure({});
});

test('a connection that is not ready says so, except to force_fetch, which sees part of its data', async () => {
  await admin.execute({
    kind: 'add-connection',
    name: 'late',
    platform: 'NETSUITE',
    records: 400,
    ready: false,
  });
  const late = tokenOf('late');
  for (const path of [bills, '/accounting/customers', '/events?type=object_deleted']) {
    const { status, text } = await api.get(path, late);
    expect([status, text]).toEqual([400, expect.stringContaining('"error_code":"PRODUCT_NOT_READY"')]);
  }
  const part = await api.readAll(bills, { ...late, force_fetch: 'true' });
  expect(part.length).toBeGreaterThan(0);
  await admin.execute({ kind: 'make-ready', connection: 'late' });
  expect((await api.readAll(bills, late)).length).toBeGreaterThan(part.length);
});

test('a connection becomes ready by itself at its set time', async () => {
  const now = await admin.now();
  await admin.execute(
    { kind: 'set-clock', frozenAt: now },
    { kind: 'add-connection', name: 'soon', platform: 'XERO', records: 100, readyAfterMs: 5_000 },
  );
  expect((await api.get(bills, tokenOf('soon'))).status).toBe(400);
  await admin.execute({ kind: 'set-clock', frozenAt: now + 5_000 });
  expect((await api.get(bills, tokenOf('soon'))).status).toBe(200);
  await admin.execute({ kind: 'set-clock' });
});

test('a ready connection stays ready when the clock is set back', async () => {
  await admin.execute(
    { kind: 'add-connection', name: 'early', platform: 'XERO', records: 10 },
    { kind: 'add-connection', name: 'told', platform: 'XERO', records: 10, ready: false },
    { kind: 'make-ready', connection: 'told' },
    { kind: 'set-clock', offsetMs: -2 * 3_600_000 },
  );
  expect((await api.get(bills, tokenOf('early'))).status).toBe(200);
  expect((await api.get(bills, tokenOf('told'))).status).toBe(200);
  await admin.execute({ kind: 'set-clock' });
});

test('what has arrived at its set time stays when the clock is set back', async () => {
  const start = await admin.now();
  const company = { kind: 'add-connection', platform: 'XERO', records: 400, readyAfterMs: 4_000 } as const;
  await admin.execute(
    { kind: 'set-clock', frozenAt: start },
    { ...company, name: 'timed' },
    { ...company, name: 'batched', batches: 4 },
    { kind: 'set-clock', frozenAt: start + 2_000 },
  );
  const forced = { ...tokenOf('timed'), force_fetch: 'true' };
  const [partOfTimed, batches] = [await idsOf(forced), await idsOf(tokenOf('batched'))];
  expect(batches.length).toBeGreaterThan(0);

  await admin.execute({ kind: 'set-clock', frozenAt: start - 3_600_000 });
  expect(await idsOf(forced)).toEqual(partOfTimed);
  expect(await idsOf(tokenOf('batched'))).toEqual(batches);

  await admin.execute(
    { kind: 'set-clock', frozenAt: start + 4_000 },
    { kind: 'set-clock', frozenAt: start - 3_600_000 },
  );
  const { counts } = await admin.connection('timed');
  expect(await idsOf(tokenOf('timed'))).toHaveLength(counts.bills);
  expect(await idsOf(tokenOf('batched'))).toHaveLength(counts.bills);
  await admin.execute({ kind: 'set-clock' });
});

test('a refused connection answers as configured, until it is accepted again', async () => {
  await admin.execute({
    kind: 'refuse',
    connection: 'acme-uk',
    refusal: { status: 401, code: 'CONNECTION_DISABLED' },
  });
  const { status, text } = await api.get(bills, tokenOf('acme-uk'));
  expect([status, JSON.parse(text)]).toMatchObject([
    401,
    { error_type: 'CONNECTION_ERROR', error_code: 'CONNECTION_DISABLED' },
  ]);
  await admin.execute({ kind: 'refuse', connection: 'acme-uk', refusal: null });
  expect((await api.get(bills, tokenOf('acme-uk'))).status).toBe(200);
});

test('the organization has 500 requests in 10 seconds across all its connections', async () => {
  const own = await startSandbox({ records: 100 });
  const statuses: number[] = [];
  for (let request = 0; request < 505; request += 1) {
    const connection = request % 2 === 0 ? 'acme-us' : 'acme-eu';
    statuses.push(
      (await createSandboxApi(own).get('/accounting/items', { ...tokenOf(connection), limit: '1' })).status,
    );
  }
  expect(statuses.filter((status) => status === 200)).toHaveLength(500);
  expect(statuses.slice(500)).toEqual([429, 429, 429, 429, 429]);
  await createSandboxAdmin(own.adminUrl).configure({ requestsPer10s: 1, retryAfter: '7' });
  const { headers } = await createSandboxApi(own).get('/accounting/items');
  expect(headers.get('retry-after')).toBe('7');
  await own.close();
});

test('a public token can be exchanged for the access token', async () => {
  const exchange = (body: object) =>
    fetch(`${sandbox.url}/item/public_token/exchange`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const credentials = { client_id: 'sandbox-client', secret: 'sandbox-secret' };
  expect(await (await exchange({ ...credentials, public_token: 'public-acme-eu' })).json()).toEqual({
    access_token: 'sandbox-token-acme-eu',
    connection_id: 'conn-acme-eu',
    is_ready: true,
    platform: 'NETSUITE',
  });
  expect((await exchange({ ...credentials, secret: 'wrong', public_token: 'public-acme-eu' })).status).toBe(
    401,
  );
  expect((await exchange({ ...credentials, public_token: 'public-nobody' })).status).toBe(400);
  expect((await exchange(credentials)).status).toBe(400);
  expect((await exchange({})).status).toBe(401);
});

test('a token exchange is treated like any other request: version, rate limit and log', async () => {
  const own = await startSandbox({ records: 100 });
  const ownAdmin = createSandboxAdmin(own.adminUrl);
  const exchange = (headers: Record<string, string> = {}) =>
    fetch(`${own.url}/item/public_token/exchange`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: '{"client_id":"sandbox-client","secret":"sandbox-secret","public_token":"public-acme-eu"}',
    });
  expect((await exchange({ 'x-service-version': '1999-01-01' })).status).toBe(400);
  await ownAdmin.configure({ requestsPer10s: 1 });
  expect((await exchange()).status).toBe(429);
  expect((await ownAdmin.requests()).map(({ path, status }) => [path, status])).toEqual([
    ['/item/public_token/exchange', 400],
    ['/item/public_token/exchange', 429],
  ]);
  await own.close();
});

test.each([
  ['an address that cannot be decoded', `${bills}/%E0%A4%A`, undefined, 400],
  ['a body of one megabyte', bills, ' '.repeat(1_100_000), 400],
  ['a body that is too large', bills, ' '.repeat(33 * 1024 * 1024), 400],
])('%s is treated like any other request: credentials first', async (_, path, body, status) => {
  const send = (headers: Record<string, string | null>) =>
    body === undefined ? api.get(path, {}, headers) : api.send('POST', path, body, {}, headers);
  const before = (await admin.requests()).length;
  const answers = [await send({ authorization: null }), await send({})];
  expect(answers.map((answer) => answer.status)).toEqual([401, status]);
  for (const { headers, text } of answers) {
    expect(headers.get('x-service-request-id')).not.toBeNull();
    expect(text).not.toContain('sandbox-token');
    expect(Object.keys(JSON.parse(text) as object)).toContain('error_code');
  }
  expect((await admin.requests()).slice(before).map((one) => one.status)).toEqual([401, status]);
});

async function idsOf(query: Record<string, string>): Promise<string[]> {
  return (await api.readAll(bills, { ...query, limit: '500' })).map(({ id }) => id);
}
