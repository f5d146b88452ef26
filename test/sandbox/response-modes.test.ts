import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startSandbox } from '../../sandbox/start-sandbox.ts';
import type { Sandbox } from '../../sandbox/start-sandbox.ts';
import { createSandboxAdmin } from '../support/sandbox-admin.ts';
import type { SandboxAdmin } from '../support/sandbox-admin.ts';
import { createSandboxApi } from './sandbox-api.ts';
import type { Answer, SandboxApi } from './sandbox-api.ts';

let sandbox: Sandbox;
let api: SandboxApi;
let admin: SandboxAdmin;

beforeAll(async () => {
  sandbox = await startSandbox({ records: 300 });
  api = createSandboxApi(sandbox);
  admin = createSandboxAdmin(sandbox.adminUrl);
  await admin.configure({ requestsPer10s: 100_000, timeFactor: 100 });
});
afterEach(() => admin.clearFaults());
afterAll(() => sandbox.close());

const customers = '/accounting/customers';

test('an asynchronous write is answered at once, and its job tells of the request and of the answer it got', async () => {
  const body = '{ "response_mode":"async","customer":{"customer_name":"Later Ltd","phone":"1.50"} }';
  const accepted = asyncResponse(await api.send('POST', customers, body));
  expect(accepted.status).toBe('prequeued');
  expect(accepted.response_url).toBe(`${sandbox.url}/v2/jobs/${accepted.id}`);
  const { type, code, job } = await finished(accepted.id);
  expect([type, code, job.status]).toEqual(['JOB', 'JOB_COMPLETED', 'success']);
  expect(job.request).toEqual({
    url: `${sandbox.url}${customers}?access_token=sandbox-token-acme-us`,
    method: 'POST',
    body: JSON.parse(body) as unknown,
  });
  expect(job.response).toMatchObject({
    http_status: 200,
    body: { customer: { customer_name: 'Later Ltd' } },
  });
  const { id } = (job.response?.body as { customer: { id: string } }).customer;
  expect((await api.get(`${customers}/${id}`)).status).toBe(200);
});

test('a job is pending until the platform has answered, and is only for who may see it', async () => {
  await admin.addFault({ times: 1, fault: { kind: 'slow-platform', ms: 30_000 } });
  const { id } = asyncResponse(await send('async'));
  await expect.poll(async () => (await job(id)).job.status).toBe('pending');
  expect((await job(id)).job.response).toBeNull();
  expect((await api.get(`/v2/jobs/${id}`, {}, { authorization: null })).status).toBe(401);
  expect((await api.get(`/v2/jobs/${id}`, { access_token: 'sandbox-token-acme-eu' })).status).toBe(410);
  expect((await api.get(`/v2/jobs/${id}`, { access_token: null })).status).toBe(200);
  expect((await api.get('/v2/jobs/none')).status).toBe(410);
  expect((await finished(id)).job.status).toBe('success');
});

test('a job of a write that is refused has failed and holds the answer', async () => {
  await admin.addFault({ times: 1, fault: { kind: 'platform-refusal' } });
  const refused = (await finished(asyncResponse(await send('async')).id)).job;
  expect([refused.status, refused.response?.http_status]).toEqual(['failure', 200]);
  expect(JSON.stringify(refused.response?.body)).toContain('PLATFORM_VALIDATION');
  const missing = asyncResponse(
    await api.send('PATCH', `${customers}/nobody`, '{"customer":{},"response_mode":"async"}'),
  );
  expect((await finished(missing.id)).job).toMatchObject({
    status: 'failure',
    response: { http_status: 410, body: { error_code: 'NOT_FOUND' } },
  });
  expect((await api.send('POST', customers, '{"customer":{},"response_mode":"async"}')).status).toBe(400);
});

test('a preferably synchronous write is one when it takes no longer than 30 seconds', async () => {
  await admin.addFault({ times: 1, fault: { kind: 'slow-platform', ms: 5_000 } });
  const { text } = await send('prefer_sync');
  expect(JSON.parse(text)).toMatchObject({ customer: { customer_name: 'A' } });
  await admin.addFault({ times: 1, fault: { kind: 'platform-error', status: 450 } });
  expect((await send('prefer_sync')).status).toBe(450);
});

test('a preferably synchronous write goes on as a job when 30 seconds are over', async () => {
  await admin.addFault({ times: 1, fault: { kind: 'slow-platform', ms: 90_000 } });
  const { id, status } = asyncResponse(await send('prefer_sync'));
  expect(status).toBe('pending');
  expect((await finished(id)).job.status).toBe('success');
});

test('the same idempotency key with the same payload is the same job, with another one 409', async () => {
  const { counts } = await admin.connection('acme-us');
  const first = asyncResponse(await send('async', 'key-1'));
  await finished(first.id);
  const again = asyncResponse(await send('async', 'key-1'));
  expect(again).toEqual({ ...first, status: 'success' });
  const other = '{"response_mode":"async","customer":{"customer_name":"B"}}';
  const key = { 'idempotency-key': 'key-1' };
  const conflict = await api.send('POST', customers, other, {}, key);
  expect(conflict.status).toBe(409);
  expect((await api.send('PATCH', `${customers}/x`, asked('async'), {}, key)).status).toBe(409);
  const british = { access_token: 'sandbox-token-acme-uk' };
  expect(asyncResponse(await api.send('POST', customers, asked('async'), british, key)).id).not.toBe(
    first.id,
  );
  expect((await admin.connection('acme-us')).counts.customers).toBe(counts.customers + 1);
});

test('a synchronous write differs from an asynchronous one of the same idempotency key: 409, and nothing is done', async () => {
  const { counts } = await admin.connection('acme-us');
  const first = asyncResponse(await send('async', 'key-4'));
  await finished(first.id);
  expect((await send('sync', 'key-4')).status).toBe(409);
  const { counts: after } = await admin.connection('acme-us');
  expect(after.customers).toBe(counts.customers + 1);
  // Only an asynchronous write is idempotent: the key of a synchronous one is not remembered (4.7.5).
  expect((await send('sync', 'key-5')).status).toBe(200);
  expect((await send('sync', 'key-5')).status).toBe(200);
});

test('an empty idempotency key is none', async () => {
  const ids = [asyncResponse(await send('async', '')).id, asyncResponse(await send('async', '')).id];
  expect(new Set(ids).size).toBe(2);
  for (const id of ids) await finished(id);
});

test('an idempotent preferably synchronous write is done once, and answered alike', async () => {
  const answers = await Promise.all([send('prefer_sync', 'key-2'), send('prefer_sync', 'key-2')]);
  expect(answers[0].text).toContain('"customer"');
  expect(answers[1].text).toBe(answers[0].text);
});

test('the service retries an idempotent job that the platform has no time for, and only that', async () => {
  const busy = { kind: 'platform-error', status: 452 } as const;
  await admin.addFault({ times: 3, fault: busy });
  const patient = asyncResponse(await send('async', 'key-3'));
  expect((await finished(patient.id)).job.status).toBe('success');
  const [rule] = (await (await fetch(`${sandbox.adminUrl}/faults`)).json()) as { happened: number }[];
  expect(rule?.happened).toBe(3);
  await admin.clearFaults();
  await admin.addFault({ times: 1, fault: busy });
  expect((await finished(asyncResponse(await send('async')).id)).job).toMatchObject({
    status: 'failure',
    response: { http_status: 452 },
  });
  expect((await send('sync')).status).toBe(200);
});

function send(mode: string, key: string | null = null): Promise<Answer> {
  return api.send('POST', customers, asked(mode), {}, { 'idempotency-key': key });
}

function asked(mode: string): string {
  const written = mode === 'sync' ? '' : `"response_mode":"${mode}",`;
  return `{${written}"customer":{"customer_name":"A"}}`;
}

function asyncResponse({ text }: Answer): { id: string; response_url: string; status: string } {
  return (JSON.parse(text) as { async_response: { id: string; response_url: string; status: string } })
    .async_response;
}

async function finished(id: string): Promise<Job> {
  await expect.poll(async () => (await job(id)).job.response, { timeout: 10_000 }).not.toBeNull();
  return job(id);
}

async function job(id: string): Promise<Job> {
  return JSON.parse((await api.get(`/v2/jobs/${id}`)).text) as Job;
}

interface Job {
  readonly type: string;
  readonly code: string;
  readonly job: {
    readonly id: string;
    readonly status: string;
    readonly request: unknown;
    readonly response: { http_status: number; body: unknown } | null;
  };
}
