import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startSandbox } from '../../sandbox/start-sandbox.ts';
import type { Sandbox } from '../../sandbox/start-sandbox.ts';
import { createSandboxAdmin } from '../support/sandbox-admin.ts';
import type { SandboxAdmin } from '../support/sandbox-admin.ts';
import { createSandboxApi } from './sandbox-api.ts';
import type { SandboxApi, SandboxRecord } from './sandbox-api.ts';
import { createWebhookAdmin } from './webhook-admin.ts';
import type { WebhookAdmin } from './webhook-admin.ts';
import { startReceiver } from './webhook-receiver.ts';
import type { Receiver, ReceivedJson } from './webhook-receiver.ts';

let sandbox: Sandbox;
let api: SandboxApi;
let admin: SandboxAdmin;
let webhooks: WebhookAdmin;
const receivers: Receiver[] = [];

beforeAll(async () => {
  sandbox = await startSandbox({ records: 300 });
  api = createSandboxApi(sandbox);
  admin = createSandboxAdmin(sandbox.adminUrl);
  webhooks = createWebhookAdmin(sandbox.adminUrl);
  await admin.configure({ requestsPer10s: 100_000, timeFactor: 1_000 });
  await admin.execute({ kind: 'make-ready', connection: 'acme-new' });
});
afterEach(async () => {
  await webhooks.configure({});
  await webhooks.clear();
  await Promise.all(receivers.splice(0).map((receiver) => receiver.close()));
});
afterAll(() => sandbox.close());

const usBill = { connection: 'acme-us', resource: 'bills' } as const;

test("a change sends a webhook with the record's exact fetched text, signed with the client secret", async () => {
  const receiver = await listen();
  const id = await firstId('acme-us', 'bills');
  const patch = String.raw`{"total_amount":123456789012345678.100000000,"memo":"é\u0000"}`;
  await admin.execute({ kind: 'change', ...usBill, id, patch });
  await expect.poll(() => receiver.received).toHaveLength(1);
  const fetched = (await api.get(`/accounting/bills/${id}`)).text;
  const [webhook] = receiver.received;
  expect(webhook?.text).toBe(
    `{"type":"BILL","code":"BILL_UPDATED","access_token":"sandbox-token-acme-us","connection_id":"conn-acme-us",${fetched.slice(fetched.indexOf('"bill":'))}`,
  );
  expect([webhook?.isSigned, webhook?.contentType]).toEqual([true, 'application/json']);
  expect(await webhooks.deliveries()).toMatchObject({
    total: 1,
    waiting: 0,
    dropped: 0,
    deliveries: [
      {
        ...{
          number: 1,
          address: receiver.address,
          type: 'BILL',
          code: 'BILL_UPDATED',
          connection: 'acme-us',
        },
        ...{
          recordId: id,
          kind: 'genuine',
          state: 'delivered',
          attempts: 1,
          lastStatus: 200,
          lastError: null,
        },
      },
    ],
  });
});

test('each resource except subscriptions has webhooks under its own name', async () => {
  const receiver = await listen();
  await admin.activity({ connection: 'acme-us', changes: 1 });
  await expect.poll(() => receiver.received).toHaveLength(5);
  expect(
    receiver.received.map(({ json }) => `${json.code} ${Object.keys(json).at(-1) ?? ''}`).sort(),
  ).toEqual([
    'BILL_CREDIT_MEMO_UPDATED bill_credit_memo',
    'BILL_UPDATED bill',
    'CUSTOMER_UPDATED customer',
    'EXPENSE_UPDATED expense',
    'ITEM_UPDATED item',
  ]);
});

test('a deletion through the API sends a webhook even on a platform that does not detect deletions', async () => {
  const receiver = await listen();
  const british = { access_token: 'sandbox-token-acme-uk' };
  const written = '{"bill":{"vendor_id":"v","line_items":[{"total_amount":5}]}}';
  const bill = idIn((await api.send('POST', '/accounting/bills', written, british)).text);
  await api.send('DELETE', `/accounting/bills/${bill}`, undefined, british);
  await expect.poll(() => receiver.received).toHaveLength(2);
  expect(receiver.received.map(({ json }) => json.code).sort()).toEqual(['BILL_CREATED', 'BILL_DELETED']);
  const events = await api.get('/events', { type: 'object_deleted', ...british });
  expect(JSON.parse(events.text)).toMatchObject({ events: [] });
});

test('writes through the API send webhooks: created, updated, deleted, and both sides of an applied credit', async () => {
  const receiver = await listen();
  const line = '"vendor_id":"v","line_items":[{"total_amount":5}]';
  const bill = idIn((await api.send('POST', '/accounting/bills', `{"bill":{${line}}}`)).text);
  await api.send('PATCH', `/accounting/bills/${bill}`, '{"bill":{"memo":"m"}}');
  const memo = idIn(
    (await api.send('POST', '/accounting/bill_credit_memos', `{"bill_credit_memo":{${line}}}`)).text,
  );
  const application = `{"bill_credit_memo_id":"${memo}","linked_bills":[{"id":"${bill}","allocated_amount":2}]}`;
  await api.send(
    'POST',
    '/accounting/bill_credit_applications',
    `{"bill_credit_application":${application}}`,
  );
  const customer = '{"customer":{"customer_name":"C"},"response_mode":"async"}';
  await api.send('POST', '/accounting/customers', customer);
  const expense = await firstId('acme-us', 'expenses');
  await api.send('DELETE', `/accounting/expenses/${expense}`);
  await expect.poll(() => receiver.received).toHaveLength(8);
  expect(receiver.received.map(({ json }) => json.code).sort()).toEqual([
    'BILL_CREATED',
    'BILL_CREDIT_MEMO_CREATED',
    'BILL_CREDIT_MEMO_UPDATED',
    'BILL_UPDATED',
    'BILL_UPDATED',
    'CUSTOMER_CREATED',
    'EXPENSE_DELETED',
    'JOB_COMPLETED',
  ]);
  const job = receiver.received.find(({ json }) => json.type === 'JOB')?.json as unknown as JobWebhook;
  expect(Object.keys(job)).toEqual(['type', 'code', 'job']);
  expect(job.job).toMatchObject({
    status: 'success',
    request: { method: 'POST' },
    response: { http_status: 200 },
  });
  expect((await api.get(`/v2/jobs/${job.job.id}`)).text).toBe(JSON.stringify(job));
});

test('a job that failed, or that was answered in time, sends no job webhook', async () => {
  const receiver = await listen();
  await admin.addFault({ times: 1, fault: { kind: 'platform-error', status: 550 } });
  const body = (mode: string) => `{"customer":{"customer_name":"C"},"response_mode":"${mode}"}`;
  const failing = await api.send('POST', '/accounting/customers', body('async'));
  const { id } = (JSON.parse(failing.text) as { async_response: { id: string } }).async_response;
  await expect.poll(async () => (await api.get(`/v2/jobs/${id}`)).text).toContain('"failure"');
  await api.send('POST', '/accounting/customers', body('prefer_sync'));
  await expect.poll(() => receiver.received.map(({ json }) => json.code)).toEqual(['CUSTOMER_CREATED']);
});

test("a deletion sends the record's final state, if the platform detects it and it is not hidden", async () => {
  const receiver = await listen();
  const bill = JSON.parse((await admin.content('acme-us', 'bills', { limit: 1 }))[0] ?? '') as SandboxRecord;
  const targets = [
    ['acme-us', 'bill_credit_memos', true],
    ['acme-uk', 'bills', true],
    ['acme-us', 'subscriptions', true],
    ['acme-us', 'customers', false],
  ] as const;
  for (const [connection, resource, event] of targets)
    await admin.execute({
      kind: 'delete',
      connection,
      resource,
      id: await firstId(connection, resource),
      event,
    });
  await admin.execute({ kind: 'delete', ...usBill, id: bill.id });
  await admin.execute({ kind: 'recreate', ...usBill, id: bill.id });
  await expect.poll(() => receiver.received).toHaveLength(2);
  const told = new Map(receiver.received.map(({ json }) => [json.code, json.bill]));
  expect(told.get('BILL_DELETED')).toEqual(bill);
  expect(told.get('BILL_CREATED')).toMatchObject({ id: bill.id });
});

test('an added record sends "created", and its replacement "updated"; the older version has its own shape', async () => {
  const receiver = await listen({ version: '2023-02-07' });
  const record = '{"id":"added-1","amount_due":1.50,"currency_code":"EUR"}';
  await admin.execute({ kind: 'add', ...usBill, record }, { kind: 'add', ...usBill, record });
  await expect.poll(() => receiver.received).toHaveLength(2);
  expect(receiver.received.map(({ json }) => json.code).sort()).toEqual(['BILL_CREATED', 'BILL_UPDATED']);
  expect(receiver.received[0]?.text).toContain('"amount_due":"1.50","currency":"EUR"');
});

test('a touched record sends a webhook only if configured, for the configured share', async () => {
  const receiver = await listen({ touched: 0.5 });
  const touch = { kind: 'touch', connection: 'acme-eu', resource: 'bills' } as const;
  const results = await admin.execute(touch);
  await idle();
  const share = receiver.received.length / (results[0]?.count ?? 0);
  expect(share).toBeGreaterThan(0.3);
  expect(share).toBeLessThan(0.7);
  await webhooks.configure({ addresses: [receiver.address] });
  await webhooks.clear();
  await admin.execute(touch);
  expect((await webhooks.deliveries()).waiting).toBeLessThanOrEqual(1);
  await idle();
  expect((await webhooks.deliveries()).total).toBe(0);
});

test('a connection that becomes ready sends a webhook, and so does each batch of its first sync', async () => {
  const receiver = await listen();
  const add = { kind: 'add-connection', platform: 'XERO', records: 200 } as const;
  await admin.execute({ ...add, name: 'at-once' }, { ...add, name: 'told', ready: false });
  await expect.poll(() => receiver.received).toHaveLength(1);
  await admin.execute({ kind: 'make-ready', connection: 'told' });
  await expect.poll(() => receiver.received).toHaveLength(2);
  expect(receiver.received.map(({ text }) => text)).toEqual(
    ['at-once', 'told'].map(
      (name) =>
        `{"type":"CONNECTION","code":"INITIAL_UPDATE","connection_id":"conn-${name}","access_token":"sandbox-token-${name}"}`,
    ),
  );

  const start = Date.UTC(2030, 0, 1);
  const token = { access_token: 'sandbox-token-slow', sort: 'last_synced_at ASC' };
  await admin.execute({ kind: 'set-clock', frozenAt: start });
  await admin.execute({ ...add, name: 'slow', readyAfterMs: 3_000, batches: 3 });
  expect((await api.get('/accounting/bills', token)).text).toContain('PRODUCT_NOT_READY');
  const counts: number[] = [];
  let watermark = 0;
  for (const batch of [1, 2, 3]) {
    await admin.execute({ kind: 'set-clock', frozenAt: start + batch * 1_000 });
    await expect.poll(() => receiver.received).toHaveLength(2 + batch);
    const arrived = await api.readAll('/accounting/bills', {
      ...token,
      last_synced_at_min: String(watermark),
    });
    counts.push(arrived.length);
    watermark = start + batch * 1_000 + 1;
  }
  const { counts: all } = await admin.connection('slow');
  expect(counts.every((count) => count > 0)).toBe(true);
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(all.bills);
  await expect(admin.execute({ kind: 'make-ready', connection: 'slow' })).rejects.toThrow('batches');
  await expect(admin.execute({ ...add, name: 'never', batches: 2 })).rejects.toThrow('readyAfterMs');
  await admin.execute({ kind: 'set-clock' });
});

test('a failed delivery is retried at growing intervals until it succeeds', async () => {
  const receiver = await listen({ timeFactor: 1_000 }, (number) => (number < 4 ? 500 : 204));
  await change();
  await expect.poll(() => receiver.received).toHaveLength(4);
  expect(new Set(receiver.received.map(({ text }) => text)).size).toBe(1);
  const [first = 0, second = 0, third = 0, fourth = 0] = receiver.received.map(({ at }) => at);
  expect(third - second).toBeGreaterThan(1.4 * (second - first) - 20);
  expect(fourth - third).toBeGreaterThan(1.4 * (third - second) - 20);
  await expect.poll(stateOfFirst).toEqual(['delivered', 4, 204]);
});

test('a delivery fails for good after six attempts', async () => {
  const receiver = await listen({ timeFactor: 1_000 }, () => 302);
  await change();
  await expect.poll(stateOfFirst, { timeout: 10_000 }).toEqual(['failed', 6, 302]);
  const times = receiver.received.map(({ at }) => at);
  expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThan(850);
  const nobody = 'http://127.0.0.1:9/';
  await webhooks.configure({ addresses: [nobody], timeFactor: 100_000 });
  await webhooks.clear();
  await change();
  await expect.poll(stateOfFirst, { timeout: 10_000 }).toEqual(['failed', 6, null]);
});

test('a receiver that hangs times out and does not delay others', async () => {
  const hung = await startReceiver(() => null);
  receivers.push(hung);
  const well = await startReceiver();
  receivers.push(well);
  await webhooks.configure({
    addresses: [hung.address, well.address],
    timeoutMs: 300,
    concurrency: 1,
    attempts: 2,
    timeFactor: 1_000_000,
  });
  for (let number = 0; number < 5; number += 1) await change();
  await expect.poll(() => well.received).toHaveLength(5);
  await expect
    .poll(async () => (await webhooks.deliveries()).deliveries.filter(({ state }) => state === 'failed'), {
      timeout: 10_000,
    })
    .toHaveLength(5);
  expect(hung.received).toHaveLength(10);
});

test('webhooks can be lost, doubled, delayed and forged, the same ones for the same seed', async () => {
  const receiver = await listen();
  await webhooks.configure({
    addresses: [receiver.address],
    lost: 0.2,
    doubled: 0.2,
    forged: 0.2,
    delayed: 0.3,
    delayMs: 5_000,
    timeFactor: 20,
  });
  const ids = (await admin.content('acme-eu', 'bills', { limit: 100 })).map(idIn);
  const eu = { connection: 'acme-eu', resource: 'bills' } as const;
  await admin.execute(...ids.map((id) => ({ kind: 'change' as const, ...eu, id, patch: '{"memo":"m"}' })));
  await idle();
  const { deliveries } = await webhooks.deliveries();
  const idsOf = (filter: (delivery: (typeof deliveries)[number]) => boolean) =>
    deliveries.filter(filter).map(({ recordId }) => recordId ?? '');
  const lost = idsOf(({ state }) => state === 'lost');
  const doubled = idsOf(({ kind }) => kind === 'double');
  const forged = idsOf(({ kind }) => kind === 'forged');
  for (const some of [lost, doubled, forged]) expect(some.length).toBeGreaterThan(8);
  const told = (signed: boolean) =>
    receiver.received
      .filter(({ isSigned }) => isSigned === signed)
      .map(({ json }) => (json as ReceivedJson & { bill: SandboxRecord }).bill.id);
  expect(told(false).sort()).toEqual([...forged].sort());
  const kept = ids.filter((id) => !lost.includes(id));
  expect(told(true).sort()).toEqual([...kept, ...doubled].sort());
  const order = [...new Set(told(true))];
  expect(order).not.toEqual(kept.filter((id) => order.includes(id)));

  const again = await startSandbox({
    records: 300,
    webhooks: { addresses: [receiver.address], lost: 0.2, doubled: 0.2, forged: 0.2 },
  });
  await createSandboxAdmin(again.adminUrl).execute(
    ...ids.map((id) => ({ kind: 'change' as const, ...eu, id, patch: '{"memo":"m"}' })),
  );
  const other = createWebhookAdmin(again.adminUrl);
  await expect.poll(async () => (await other.deliveries()).waiting).toBe(0);
  const fates = (await other.deliveries()).deliveries;
  expect(fates.filter(({ state }) => state === 'lost').map(({ recordId }) => recordId)).toEqual(lost);
  expect(fates.filter(({ kind }) => kind === 'forged').map(({ recordId }) => recordId)).toEqual(forged);
  await again.close();
});

test('any text can be sent at once, with a valid, an invalid or no signature', async () => {
  const receiver = await listen({}, (number) => (number === 2 ? 401 : 200));
  const answers = [
    await webhooks.send({ body: '{"type":"ORDER"}' }),
    await webhooks.send({ body: 'no JSON é', signature: 'sha256=wrong' }),
    await webhooks.send({ body: '', signature: null, address: receiver.address }),
  ].flat();
  expect(answers.map(({ status }) => status)).toEqual([200, 401, 200]);
  expect(receiver.received.map(({ text, isSigned }) => [text, isSigned])).toEqual([
    ['{"type":"ORDER"}', true],
    ['no JSON é', false],
    ['', false],
  ]);
});

test('webhooks without an address are not kept, and an invalid address is refused', async () => {
  await change();
  expect(await webhooks.deliveries()).toEqual({ total: 0, waiting: 0, dropped: 0, deliveries: [] });
  await expect(webhooks.configure({ addresses: ['nowhere'] })).rejects.toThrow('400');
});

test('a thousand webhooks arrive once each, and a sandbox with many waiting can close', async () => {
  const receiver = await listen();
  const ids = (await admin.content('acme-eu', 'bills')).map(idIn);
  const changes = Array.from({ length: 1_000 }, (_, number) => ({
    kind: 'change' as const,
    connection: 'acme-eu',
    resource: 'bills' as const,
    id: ids[number % ids.length]!,
    patch: `{"memo":"${number}"}`,
  }));
  await admin.execute(...changes);
  await idle();
  expect(new Set(receiver.received.map(({ text }) => text)).size).toBe(1_000);
  expect(receiver.received).toHaveLength(1_000);

  const hung = await startReceiver(() => null);
  receivers.push(hung);
  const closing = await startSandbox({ records: 300, webhooks: { addresses: [hung.address] } });
  await createSandboxAdmin(closing.adminUrl).execute(...changes);
  await expect.poll(() => hung.received.length).toBeGreaterThan(0);
  await closing.close();
});

async function listen(
  settings: Parameters<WebhookAdmin['configure']>[0] = {},
  answer?: (number: number) => number,
): Promise<Receiver> {
  const receiver = await startReceiver(answer);
  receivers.push(receiver);
  await webhooks.configure({ addresses: [receiver.address], ...settings });
  return receiver;
}

async function change(): Promise<void> {
  const id = await firstId('acme-us', 'items');
  await admin.execute({
    kind: 'change',
    connection: 'acme-us',
    resource: 'items',
    id,
    patch: '{"code":"x"}',
  });
}

async function idle(): Promise<void> {
  await expect.poll(async () => (await webhooks.deliveries()).waiting, { timeout: 20_000 }).toBe(0);
}

async function stateOfFirst(): Promise<unknown[]> {
  const [first] = (await webhooks.deliveries()).deliveries;
  return [first?.state, first?.attempts, first?.lastStatus];
}

async function firstId(
  connection: string,
  resource: Parameters<SandboxAdmin['content']>[1],
): Promise<string> {
  const [line = ''] = await admin.content(connection, resource, { limit: 1 });
  return idIn(line);
}

/** The first ID in the text of a record or an answer, which is the record's own. */
function idIn(text: string): string {
  return /"id":"([^"]+)"/.exec(text)?.[1] ?? '';
}

interface JobWebhook {
  readonly job: { readonly id: string };
}
