import type { ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { bills } from '../../resources/bills.ts';
import {
  accessToken,
  answerJson,
  billsRequest,
  clientOf,
  clientSecret,
  startScriptedApi,
} from './scripted-api.ts';

const connection = { id: 'conn_1', orgId: 'org_1', platform: 'NETSUITE' };

describe('a list', () => {
  test('is requested with credentials, version, token and filters, under the path of the base URL', async () => {
    const api = await startScriptedApi((_, response) => {
      answerJson(response, { connection, bills: [], next_cursor: null });
    });
    const { client } = clientOf({ url: `${api.url}/versioned/` });
    await client.list({ ...billsRequest, query: { sort: 'last_synced_at ASC', cursor: 'a+b/c=&d' } });
    const [request] = api.requests;
    expect(request?.path).toBe('/versioned/accounting/bills');
    expect(request?.rawUrl).toContain('sort=last_synced_at%20ASC&cursor=a%2Bb%2Fc%3D%26d&');
    expect(request?.query.get('access_token')).toBe(accessToken);
    expect(request?.headers['x-service-version']).toBe('2023-03-14');
    expect(request?.headers.accept).toBe('application/json');
    expect(request?.headers.authorization).toBe(
      `Basic ${Buffer.from(`client:${clientSecret}`).toString('base64')}`,
    );
  });

  test('returns its records with their text as it was sent, digit by digit', async () => {
    const text = '{"id":"b", "total_amount":12345678901234567890.120}';
    const api = await startScriptedApi((_, response) => {
      answerJson(
        response,
        `{"connection": ${JSON.stringify(connection)}, "bills": [${text}],\n "next_cursor":"n"}`,
      );
    });
    const page = await clientOf(api).client.list(billsRequest);
    expect(page).toEqual({
      records: [{ text, value: { id: 'b', total_amount: expect.any(Number) as number } }],
      connection,
      nextCursor: 'n',
      requestId: 'req_1',
      servedAt: expect.any(Date) as unknown,
      receivedAt: expect.any(Date) as unknown,
    });
  });

  test.each([
    ['absent', '{"bills":[]}'],
    ['null', '{"bills":[],"next_cursor":null}'],
    ['empty', '{"bills":[],"next_cursor":""}'],
  ])('ends with the page whose next_cursor is %s', async (_, text) => {
    const api = await startScriptedApi((_, response) => {
      answerJson(response, text);
    });
    const page = await clientOf(api).client.list(billsRequest);
    expect(page.nextCursor).toBeNull();
    expect(page.connection).toBeNull();
  });

  test('takes one request from the budget, before it is sent', async () => {
    const api = await startScriptedApi((_, response) => {
      answerJson(response, { bills: [] });
    });
    const { client, budget } = clientOf(api);
    await client.list(billsRequest);
    expect(budget.taken()).toBe(1);
    const closed = clientOf(api, {
      budget: { ...budget, take: () => Promise.reject(new Error('no budget')) },
    });
    await expect(closed.client.list(billsRequest)).rejects.toThrow('no budget');
    expect(api.requests).toHaveLength(1);
  });

  test('reuses the connections of earlier lists', async () => {
    const api = await startScriptedApi((_, response) => {
      answerJson(response, { bills: [] });
    });
    const { client } = clientOf(api);
    for (let i = 0; i < 10; i += 1) await client.list(billsRequest);
    expect(api.requests).toHaveLength(10);
    // The previous connection may still be closing when the next request is sent.
    expect(api.connections()).toBeLessThanOrEqual(2);
  });

  test('keeps multi-byte characters that are split across two chunks of the body', async () => {
    const body = Buffer.from('{"bills":[{"id":"é€😀"}]}');
    const api = await startScriptedApi((_, response) => {
      response.write(body.subarray(0, 17));
      setImmediate(() => response.end(body.subarray(17)));
    });
    const page = await clientOf(api).client.list(billsRequest);
    expect(page.records).toMatchObject([{ value: { id: 'é€😀' } }]);
  });
});

describe('a fetch', () => {
  test('returns the text of the record alone', async () => {
    const record = '{"id":"a/b c","total_amount":0.10, "bill":{"id":"inner"}}';
    const api = await startScriptedApi((_, response) => {
      answerJson(response, `{"connection":${JSON.stringify(connection)},"bill":${record}}`);
    });
    const fetched = await clientOf(api).client.fetch({
      accessToken,
      resource: bills,
      id: 'a/b c',
    });
    expect(fetched.record.text).toBe(record);
    expect(fetched.record.value).toMatchObject({ id: 'a/b c' });
    expect(fetched.connection).toEqual(connection);
    expect(api.requests[0]?.path).toBe('/accounting/bills/a%2Fb%20c');
  });

  test.each([404, 410])('throws RecordGone for a record that is gone (%i)', async (status) => {
    const api = await startScriptedApi((_, response) => {
      response.writeHead(status).end();
    });
    const fetching = clientOf(api).client.fetch({
      accessToken,
      resource: bills,
      id: 'b1',
    });
    await expect(fetching).rejects.toMatchObject({ name: 'RecordGone', status });
  });
});

describe('a malformed answer with status 200 is retried', () => {
  test.each([
    ['HTML', '<html>busy</html>'],
    ['empty', ''],
    ['cut off', '{"bills":[{"id":"b1"},{"id":'],
    ['an array', '[]'],
    ['without the records', '{"connection":null}'],
    ['records that are no array', '{"bills":{}}'],
    ['a cursor that is a number', '{"bills":[],"next_cursor":7}'],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
  ])('%s', async (_, body) => {
    const api = await startScriptedApi((_, response) => {
      response.setHeader('x-service-request-id', 'req_9');
      response.end(body);
    });
    const listing = clientOf(api).client.list(billsRequest);
    await expect(listing).rejects.toMatchObject({
      name: 'UnreadableResponse',
      handling: 'retry',
      requestId: 'req_9',
      status: 200,
    });
  });

  test('a body without end, once it is larger than allowed', async () => {
    const api = await startScriptedApi((_, response) => {
      const piece = Buffer.alloc(16 * 1024, ' ');
      function send(): void {
        while (!response.destroyed && response.write(piece));
      }
      response.on('drain', send);
      send();
    });
    const listing = clientOf(api, { limits: { bytes: 200_000 } }).client.list(billsRequest);
    await expect(listing).rejects.toMatchObject({
      name: 'UnreadableResponse',
      message: expect.stringContaining('more than 200,000 bytes') as string,
    });
    await api.requests[0]?.abandoned;
  });
});

describe('a network failure is SourceUnavailable, and is retried', () => {
  test('no server listens', async () => {
    const listing = clientOf({ url: 'http://127.0.0.1:1' }).client.list(billsRequest);
    await expect(listing).rejects.toMatchObject({ ...unavailable, code: 'ECONNREFUSED' });
  });

  test('the host has no address', async () => {
    const listing = clientOf({ url: 'http://nowhere.invalid' }).client.list(billsRequest);
    await expect(listing).rejects.toMatchObject({
      ...unavailable,
      code: expect.stringMatching(/^(ENOTFOUND|EAI_AGAIN)$/) as string,
    });
  });

  test('the connection is reset before the answer', async () => {
    const api = await startScriptedApi((_, response) => {
      response.socket?.resetAndDestroy();
    });
    const listing = clientOf(api).client.list(billsRequest);
    await expect(listing).rejects.toMatchObject({ ...unavailable, code: 'ECONNRESET' });
  });

  test('the body breaks off', async () => {
    const api = await startScriptedApi((_, response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('{"bills":[');
      setImmediate(() => response.destroy());
    });
    await expect(clientOf(api).client.list(billsRequest)).rejects.toMatchObject(unavailable);
  });

  test('the answer does not begin', async () => {
    const api = await startScriptedApi(() => undefined);
    const { client } = clientOf(api, { timeouts: { headersMilliseconds: 100 } });
    await expect(client.list(billsRequest)).rejects.toMatchObject({
      ...unavailable,
      code: 'UND_ERR_HEADERS_TIMEOUT',
    });
  });

  test('the body stalls', async () => {
    const api = await startScriptedApi((_, response) => {
      response.write('{"bills":[');
    });
    const { client } = clientOf(api, { timeouts: { bodyIdleMilliseconds: 100 } });
    await expect(client.list(billsRequest)).rejects.toMatchObject({
      ...unavailable,
      code: 'UND_ERR_BODY_TIMEOUT',
    });
  });

  test('the body comes a byte at a time and never ends', async () => {
    const api = await startScriptedApi((_, response) => {
      const drip = setInterval(() => response.write(' '), 20);
      response.on('close', () => {
        clearInterval(drip);
      });
    });
    const { client } = clientOf(api, {
      timeouts: { bodyIdleMilliseconds: 5000, totalMilliseconds: 200 },
    });
    await expect(client.list(billsRequest)).rejects.toMatchObject({
      ...unavailable,
      code: 'TIME_LIMIT_REACHED',
    });
    await api.requests[0]?.abandoned;
  });

  test('the body comes more slowly than any service would send it', async () => {
    const api = await startScriptedApi((_, response) => {
      const drip = setInterval(() => response.write(' '), 20);
      response.on('close', () => {
        clearInterval(drip);
      });
    });
    const { client } = clientOf(api, { timeouts: { slowestBody: { bytes: 1_000, milliseconds: 200 } } });
    await expect(client.list(billsRequest)).rejects.toMatchObject({ ...unavailable, code: 'BODY_TOO_SLOW' });
    await api.requests[0]?.abandoned;
  });

  const unavailable = { name: 'SourceUnavailable', handling: 'retry', status: null };
});

test('the client waits for a slow service before the headers, before the body and within the body', async () => {
  const api = await startScriptedApi((_, response) => {
    const send = (text: string): void => {
      response.write(text);
    };
    setTimeout(() => {
      response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
    }, 800);
    setTimeout(send, 1_600, `{"bills":[]${' '.repeat(2_000)}`);
    setTimeout(send, 1_850, ' '.repeat(2_000));
    setTimeout(() => response.end(',"next_cursor":null}'), 2_150);
  });
  const slowestBody = { bytes: 1_000, milliseconds: 500 };
  const { client } = clientOf(api, { timeouts: { slowestBody } });
  expect(await client.list(billsRequest)).toMatchObject({ records: [], nextCursor: null });
});

describe('an abort', () => {
  test('rejects with its reason and closes the request if it comes before the answer', async () => {
    const abort = new AbortController();
    const reason = new Error('shutting down');
    const api = await startScriptedApi(() => {
      abort.abort(reason);
    });
    const listing = clientOf(api).client.list({ ...billsRequest, signal: abort.signal });
    await expect(listing).rejects.toBe(reason);
    await api.requests[0]?.abandoned;
  });

  test('rejects with its reason and closes the request if it comes in the middle of the body', async () => {
    const abort = new AbortController();
    const reason = new Error('shutting down');
    const api = await startScriptedApi((_, response) => {
      response.write('{"bills":[', () => {
        abort.abort(reason);
      });
    });
    const listing = clientOf(api).client.list({ ...billsRequest, signal: abort.signal });
    await expect(listing).rejects.toBe(reason);
    await api.requests[0]?.abandoned;
  });

  test('sends nothing if it comes before the request', async () => {
    const api = await startScriptedApi(() => undefined);
    const reason = new Error('gone');
    const listing = clientOf(api).client.list({ ...billsRequest, signal: AbortSignal.abort(reason) });
    await expect(listing).rejects.toBe(reason);
    expect(api.requests).toHaveLength(0);
  });
});

describe('a rate limit', () => {
  test('is reported to the budget of the organization if the service imposes it', async () => {
    const api = await startScriptedApi((_, response) => {
      response.writeHead(429, { 'retry-after': '7' }).end();
    });
    const { client, budget } = clientOf(api);
    const error: unknown = await client.list(billsRequest).catch((error: unknown) => error);
    expect(error).toMatchObject({ name: 'RateLimited', handling: 'wait', milliseconds: 7_000 });
    expect(budget.reported).toEqual([7_000]);
  });

  test('is not reported to the budget if the platform imposes it', async () => {
    const api = await startScriptedApi((_, response) => {
      response.writeHead(452).end();
    });
    const { client, budget } = clientOf(api);
    await expect(client.list(billsRequest)).rejects.toMatchObject({ name: 'RateLimited' });
    expect(budget.reported).toEqual([]);
  });
});

describe('an error answer', () => {
  test('is classified by its status if its body never ends', async () => {
    const api = await startScriptedApi((_, response) => {
      response.writeHead(503);
      response.write('<html>');
    });
    const { client } = clientOf(api, { timeouts: { totalMilliseconds: 200 } });
    await expect(client.list(billsRequest)).rejects.toMatchObject({ name: 'SourceUnavailable', status: 503 });
  });

  test('is classified by its status if its body comes too slowly', async () => {
    const api = await startScriptedApi((_, response) => {
      response.writeHead(503);
      const drip = setInterval(() => response.write('<'), 20);
      response.on('close', () => {
        clearInterval(drip);
      });
    });
    const { client } = clientOf(api, { timeouts: { slowestBody: { bytes: 1_000, milliseconds: 200 } } });
    await expect(client.list(billsRequest)).rejects.toMatchObject({ name: 'SourceUnavailable', status: 503 });
    await api.requests[0]?.abandoned;
  });

  test('is classified by its status if its body breaks off', async () => {
    const api = await startScriptedApi((_, response) => {
      response.writeHead(451, { 'content-length': '1000' });
      response.write('{"error_');
      setImmediate(() => response.destroy());
    });
    await expect(clientOf(api).client.list(billsRequest)).rejects.toMatchObject({
      name: 'PlatformAccessRefused',
      status: 451,
    });
  });
});

test('an error contains no token, secret, query or body', async () => {
  const quoting = `"${accessToken}" ${clientSecret} client vendor-of-the-body`;
  const script: ((response: ServerResponse) => void)[] = [
    ...[301, 400, 401, 403, 404, 410, 429, 450, 451, 452, 500, 503, 550].map(
      (status) => (response: ServerResponse) => {
        response.writeHead(status, { 'x-service-request-id': quoting, location: `/?${accessToken}` });
        response.end(JSON.stringify({ error_code: accessToken, error_message: quoting }));
      },
    ),
    (response) => {
      response.end(`not JSON: ${quoting}`);
    },
    (response) => {
      response.socket?.end(`HTTP/1.1 banana ${quoting}\r\n\r\n`);
    },
    (response) => {
      response.socket?.resetAndDestroy();
    },
  ];
  const api = await startScriptedApi((_, response) => script.shift()?.(response));
  const { client } = clientOf(api);
  while (script.length > 0) {
    const error: unknown = await client.list(billsRequest).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(Error);
    const shown = inspect(error, { depth: 10, showHidden: true });
    expect(shown).not.toMatch(/must-not-be-seen|vendor-of-the-body|last_synced_at|Basic /);
    expect(shown).not.toContain(Buffer.from(clientSecret).toString('base64').slice(4, -4));
    expect(shown).toContain('GET /accounting/bills');
  }
});
