import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { startDaybook } from '../support/daybook-process.ts';
import { bill } from '../support/finance-records.ts';
import { clientSecret, createInstallation } from '../support/installation.ts';
import { row, rows } from '../support/rows.ts';
import { readListeningUrl } from './company.ts';
import { connectionWebhook, entityWebhook, send } from './webhook.ts';

const installation = await createInstallation();
const { warehouse, cwd, env } = installation;
// No worker runs, so nothing is applied, and stored webhooks stay as they are.
const serving = startDaybook(['serve'], { cwd, env });
afterAll(() => serving.stop());
await serving.waitForOutput(/Serving at/);
const url = readListeningUrl(serving);

test('a forged webhook gets 401 and is not stored, whatever is wrong with its signature', async () => {
  const body = buildBody('forged');
  const right = createHmac('sha256', clientSecret).update(body).digest('base64');
  const wrong = [
    null,
    '',
    'sha256=',
    right,
    `sha256=${right.slice(0, -2)}`,
    `sha256= ${right}`,
    `sha1=${right}`,
    `sha256=${createHmac('sha256', clientSecret).update(body).digest('hex')}`,
    `sha256=${createHmac('sha256', 'another secret').update(body).digest('base64')}`,
    `sha256=${createHmac('sha256', '').update(body).digest('base64')}`,
  ];
  for (const signature of wrong) expect(await send(url, body, signature), String(signature)).toBe(401);
  expect(await readEntries('forged')).toEqual([]);
});

test('the signature covers the raw bytes: whitespace and any content type are accepted', async () => {
  const body = `  ${buildBody('spaced').replaceAll(',', ' ,\n')}`;
  expect(await send(url, body)).toBe(200);
  expect(await readEntries('spaced')).toHaveLength(1);
  const signature = `sha256=${createHmac('sha256', clientSecret).update(buildBody('bare')).digest('base64')}`;
  for (const type of ['text/plain', 'json', ';;;', '', 'a/b; c="', undefined]) {
    const headers = type === undefined ? {} : { 'content-type': type };
    expect(
      await postForStatus(buildBody('bare'), { 'x-service-signature': signature, ...headers }),
      type,
    ).toBe(200);
    expect(await postForStatus(buildBody('bare'), headers), type).toBe(401);
  }
  expect(serving.output()).not.toContain('could not be stored');
});

test('a body that is not a JSON object gets 400, and one that is too large gets 413', async () => {
  for (const body of ['', 'no JSON', '[]', '"text"', '7', '{"type":']) {
    expect(await send(url, body), body).toBe(400);
  }
  // The answer comes before the body is read, so none of the body has to be sent.
  const large = request(`${url}/webhooks`, {
    method: 'POST',
    headers: { 'content-length': String(6 * 1024 * 1024) },
  });
  large.flushHeaders();
  const [answer] = (await once(large, 'response')) as [IncomingMessage];
  large.destroy();
  expect(answer.statusCode).toBe(413);
});

test('an unknown webhook is stored and acknowledged, with the reason why it is ignored', async () => {
  const connection = await identified();
  const bodies = {
    'no connection here has this identity': entityWebhook('nobody', {
      entity: 'BILL',
      what: 'UPDATED',
      record: bill('b'),
    }),
    'nothing of it is copied': entityWebhook(connection, {
      entity: 'ORDER',
      what: 'CREATED',
      record: '{"id":"o"}',
    }),
    'it does not say which record, or by an id that is no key': entityWebhook(connection, {
      entity: 'BILL',
      what: 'CREATED',
      record: '{}',
    }),
  };
  for (const [outcome, body] of Object.entries(bodies)) {
    expect(await send(url, body)).toBe(200);
    expect(await newest()).toMatchObject({ status: 'ignored', outcome });
  }
  expect(await send(url, '{}')).toBe(200);
  expect(await newest()).toMatchObject({ status: 'ignored', type: '' });
  expect(await send(url, '{"type":7,"code":null,"connection_id":{}}')).toBe(200);
  expect(await newest()).toMatchObject({ status: 'ignored', type: '' });
});

test('a connection ID too long for an index is stored in the payload, and matches no connection', async () => {
  const name = randomBytes(500_000).toString('hex');
  const body = connectionWebhook('nobody').replace('conn-nobody', name);
  expect(await send(url, body)).toBe(200);
  expect(await newest()).toMatchObject({
    service_connection_id: null,
    status: 'ignored',
    outcome: 'no connection here has this identity',
    payload: { connection_id: name },
  });
});

test('duplicates are counted by their content, whatever their token', async () => {
  const connection = await identified();
  const body = entityWebhook(connection, { entity: 'BILL', what: 'UPDATED', record: bill('twice') });
  const other = body.replace(`token-of-${connection}`, 'another-token');
  expect(await Promise.all([send(url, body), send(url, other), send(url, body)])).toEqual([200, 200, 200]);
  expect(await readEntries('twice')).toMatchObject([{ deliveries: 3, status: 'waiting', resource: 'bills' }]);
  await warehouse.pool.query(`update sync.webhook_inbox set status = 'applied' where record_id = 'twice'`);
  await send(url, body);
  expect(await readEntries('twice')).toMatchObject([{ deliveries: 4, status: 'applied' }]);
});

test('a webhook that an earlier release ignored is assigned to its record when it comes again', async () => {
  const connection = await identified();
  const body = entityWebhook(connection, { entity: 'BILL', what: 'DELETED', record: bill('unknown') });
  await send(url, body);
  await warehouse.pool.query(
    `update sync.webhook_inbox set status = 'ignored', outcome = 'nothing of it is copied', closed_at = now(),
       resource = null, record_id = null, version = null
     where connection_id = $1`,
    [connection],
  );
  await send(url, body);
  expect(await readEntries('unknown')).toMatchObject([
    { deliveries: 2, status: 'waiting', resource: 'bills', version: expect.anything() as Date },
  ]);
});

test("a repeated webhook that a connection's data is ready waits again each time", async () => {
  const connection = await identified();
  await send(url, connectionWebhook(connection));
  await warehouse.pool.query(`update sync.webhook_inbox set status = 'applied' where connection_id = $1`, [
    connection,
  ]);
  await send(url, connectionWebhook(connection));
  expect(await newest()).toMatchObject({ connection_id: connection, status: 'waiting', deliveries: 2 });
});

test('access tokens are removed from stored webhooks: at any depth, in addresses and in texts', async () => {
  const secret = 'planted-access-token';
  const job = {
    type: 'JOB',
    code: 'JOB_COMPLETED',
    access_token: secret,
    job: {
      id: 'j',
      request: {
        url: `http://api/accounting/bills?access_token=${secret}&limit=1`,
        body: JSON.stringify({ access_token: secret, bill: { memo: `?x=1&access_token=${secret}` } }),
        deep: [{ a: { access_token: { nested: secret } } }, { access_token: [secret] }],
      },
    },
  };
  const escaped = String.raw`{"type":"JOB","acc\u0065ss_token":"${secret}","url":"?access\u005ftoken=${secret}"}`;
  for (const body of [JSON.stringify(job), JSON.stringify(job, null, 2), escaped]) {
    expect(await send(url, body)).toBe(200);
    const { dump } = await row(
      warehouse,
      'select to_jsonb(w)::text as dump from sync.webhook_inbox w order by id desc limit 1',
    );
    expect(dump).not.toContain(secret);
  }
  expect(await newest()).toMatchObject({ payload: { type: 'JOB', url: '?access_token=' } });
  const all = await rows(
    warehouse,
    `select from sync.webhook_inbox w where to_jsonb(w)::text like '%' || $1 || '%'`,
    [secret],
  );
  expect(all).toEqual([]);
  expect(serving.output()).not.toContain(secret);
});

test('a stored webhook keeps every digit, and one with text that Postgres cannot hold is stored, too', async () => {
  const connection = await identified();
  const record = bill('digits', {
    total_amount: '12345678901234567890.123456789012345678901',
    memo: String.raw`"nul \u0000"`,
  });
  expect(await send(url, entityWebhook(connection, { entity: 'BILL', what: 'UPDATED', record }))).toBe(200);
  const { amount } = await row(
    warehouse,
    `select payload -> 'bill' ->> 'total_amount' as amount from sync.webhook_inbox where record_id = 'digits'`,
  );
  expect(amount).toBe('12345678901234567890.123456789012345678901');
  const half = bill('half', { memo: String.raw`"\ud83d"` });
  expect(await send(url, entityWebhook(connection, { entity: 'BILL', what: 'UPDATED', record: half }))).toBe(
    200,
  );
  expect(await readEntries('half')).toMatchObject([{ status: 'waiting', resource: 'bills' }]);
});

test('a webhook that cannot be stored gets 503, and is accepted when it comes again', async () => {
  const body = buildBody('away');
  await warehouse.pool.query('alter table sync.webhook_inbox rename to moved');
  expect(await send(url, body)).toBe(503);
  await warehouse.pool.query('alter table sync.moved rename to webhook_inbox');
  expect(await send(url, body)).toBe(200);
  expect(await readEntries('away')).toMatchObject([{ deliveries: 1 }]);
  const metrics = await (await fetch(`${url}/metrics`)).text();
  expect(metrics).toMatch(/daybook_webhooks_total\{outcome="unavailable"\} 1/);
  expect(metrics).toMatch(/daybook_webhooks_total\{outcome="forged"\} \d+/);
});

test('a connection that breaks in the middle of a body stores nothing', async () => {
  const body = buildBody('broken');
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.write(`POST /webhooks HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length + 100}\r\n\r\n${body}`);
  await eventually(() => Promise.resolve(socket.bytesWritten > body.length ? true : undefined));
  socket.destroy();
  expect(await send(url, buildBody('after'))).toBe(200);
  expect(await readEntries('broken')).toEqual([]);
});

/** A connection whose identity is known, although nothing of it was ever read. */
async function identified(): Promise<string> {
  const connection = await installation.connect({ records: 0 });
  await warehouse.pool.query(
    'update sync.connections set service_connection_id = $2 where connection_id = $1',
    [connection, `conn-${connection}`],
  );
  return connection;
}

function buildBody(id: string): string {
  return buildWebhook(id, 'memo');
}

function buildWebhook(id: string, memo: string): string {
  return entityWebhook('anybody', {
    entity: 'BILL',
    what: 'UPDATED',
    record: bill(id, { memo: `"${memo}"` }),
  });
}

function readEntries(recordId: string) {
  return rows(warehouse, 'select *, deliveries::int from sync.webhook_inbox where record_id = $1', [
    recordId,
  ]);
}

function newest() {
  return row(
    warehouse,
    'select *, deliveries::int from sync.webhook_inbox order by last_received_at desc limit 1',
  );
}

/** Sends exactly these headers, while fetch adds a content type if there is none. */
async function postForStatus(body: string, headers: Record<string, string>): Promise<number | undefined> {
  const asked = request(`${url}/webhooks`, { method: 'POST', headers });
  asked.end(body);
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  answer.resume();
  return answer.statusCode;
}
