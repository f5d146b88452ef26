import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { bills } from '../../resources/bills.ts';
import { findFieldIssues } from '../../resources/field-issues.ts';
import type { ListPage } from '../../source/responses.ts';
import { answerLimits } from '../../source/answer-limits.ts';
import { readBody, decodeBody } from '../../source/read-body.ts';
import { readPages } from '../../source/read-pages.ts';
import { parseServedAt } from '../../source/retry-after.ts';
import { some } from '../support/proof-test.ts';
import {
  accessToken,
  answerJson,
  billsRequest,
  clientOf,
  clientSecret,
  startScriptedApi,
} from './scripted-api.ts';

test.each(
  some(
    [
      ['records', '{"bills":[{}', ',{}'],
      ['lists within a record', '{"bills":[{"id":"b","x":[0', ',[]'],
      ['members of a record', '{"bills":[{"id":"b"', ',"a":0'],
      ['commas and no JSON', '', ','],
      ['brackets within brackets', '', '['],
    ],
    2,
  ),
)(
  'an endless answer of %s is refused unparsed, and blocks the process for less than a second',
  async (_, start, more) => {
    const api = await startScriptedApi((_, response) => {
      response.write(start);
      sendOn(response, Buffer.from(more.repeat(100_000)));
    });
    const { client } = clientOf(api);
    await client.list({ ...billsRequest, query: {} }).catch(() => undefined);
    const before = process.memoryUsage().rss;
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    const answers = await Promise.allSettled(Array.from({ length: 4 }, () => client.list(billsRequest)));
    delay.disable();
    for (const answer of answers)
      expect(answer).toMatchObject({
        reason: {
          name: 'UnreadableResponse',
          handling: 'retry',
          message: expect.stringMatching(
            /^GET \/accounting\/bills answered with more than 500,000 values in one body/,
          ) as string,
        },
      });
    expect(delay.max / 1e6).toBeLessThan(1_000);
    expect(process.memoryUsage().rss - before).toBeLessThan(300_000_000);
    await api.requests[0]?.abandoned;
  },
);

test('a bill with two million lines, in 4 MB, is refused unparsed', async () => {
  const api = await startScriptedApi((_, response) => {
    answerJson(response, `{"bills":[{"id":"b","line_items":[${'0,'.repeat(1_999_999)}0]}]}`);
  });
  const { client } = clientOf(api);
  const before = process.memoryUsage().rss;
  await expect(client.list(billsRequest)).rejects.toThrow('more than 500,000 values in one body');
  expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
});

test('records whose values take fifty times their size in memory are kept as text until they land', async () => {
  // A member whose name is a number costs V8 some 300 bytes.
  const nested = `{"id":"b","x":[${'{"30":{}},'.repeat(160_000)}0]}`;
  const api = await startScriptedApi((_, response) => {
    answerJson(response, `{"bills":[${nested}],"next_cursor":null}`);
  });
  const { client } = clientOf(api);
  const before = heapUsed();
  const pages = await Promise.all(Array.from({ length: 8 }, () => client.list(billsRequest)));
  expect(heapUsed() - before).toBeLessThan(100_000_000);
  expect(pages.map(({ records }) => (records[0]?.value as { x: unknown[] }).x.length)).toEqual(
    Array.from({ length: 8 }, () => 160_001),
  );
});

/** The bytes of memory still reachable. */
function heapUsed(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

test('endless informational answers are cut off before the time limit, and their connection is closed', async () => {
  const api = await startScriptedApi((_, { socket }) => {
    if (socket !== null) flood(socket, 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n');
  });
  const { client } = clientOf(api);
  await expect(client.list(billsRequest)).rejects.toMatchObject({
    name: 'SourceUnavailable',
    message: expect.stringContaining('TOO_MANY_INFORMATIONAL') as string,
  });
  await api.requests[0]?.abandoned;
});

test('a few informational answers may come before a page', async () => {
  const api = await startScriptedApi((_, response) => {
    for (let sent = 0; sent < 3; sent += 1) response.writeProcessing();
    answerJson(response, { bills: [], next_cursor: null });
  });
  const { client } = clientOf(api);
  expect((await client.list(billsRequest)).records).toEqual([]);
});

test('a string of 1.2 million commas and brackets counts as one value', async () => {
  const api = await startScriptedApi((_, response) => {
    answerJson(response, `{"bills":[{"id":"b","memo":"${',[{'.repeat(400_000)}"}],"next_cursor":null}`);
  });
  const { client } = clientOf(api);
  expect((await client.list(billsRequest)).records).toHaveLength(1);
});

test('a body of 2 MB that comes byte by byte takes less than 150 MB of memory', async () => {
  const bytes = 2_000_000;
  async function* drip(): AsyncGenerator<Buffer> {
    for (let sent = 0; sent < bytes; sent += 1) {
      // Each piece has memory of its own, as from the network.
      yield Buffer.from(new ArrayBuffer(1)).fill(' ');
      if (sent % 10_000 === 0) await yieldToEventLoop();
    }
  }
  const failure = { request: 'GET /accounting/bills', status: 200, errorCode: null, requestId: null };
  const before = process.memoryUsage().rss;
  expect(decodeBody(await readBody(drip(), answerLimits, failure), failure)).toBe(' '.repeat(bytes));
  expect(process.memoryUsage().rss - before).toBeLessThan(150_000_000);
});

test('a page with many times the requested number of records is refused', async () => {
  const api = await startScriptedApi((_, response) => {
    answerJson(response, `{"bills":[{}${',{}'.repeat(10_000)}]}`);
  });
  await expect(clientOf(api).client.list(billsRequest)).rejects.toThrow(
    /^GET \/accounting\/bills answered with more than 10,000 records in one page \(200, request req_1\): /,
  );
});

test('brackets and commas in a string with escaped quotes do not count as values', async () => {
  const record = JSON.stringify({ id: 'b', memo: String.raw`"\,[{"`.repeat(300_000) });
  const api = await startScriptedApi((_, response) => {
    answerJson(response, `{"bills":[${record}]}`);
  });
  expect((await clientOf(api).client.list(billsRequest)).records[0]?.text).toBe(record);
});

test('a page that is too large is requested again with fewer records, and so are the pages after it', async () => {
  const api = await startScriptedApi(({ query }, response) => {
    const count = Math.min(Number(query.get('limit')), 60);
    const record = `{"id":"b","memo":"${'x'.repeat(1_000)}"}`;
    answerJson(response, {
      bills: Array.from({ length: count }, () => JSON.parse(record) as unknown),
      next_cursor: query.has('cursor') ? null : 'a',
    });
  });
  const { client } = clientOf(api, { limits: { bytes: 55_000 } });
  const sizes: number[] = [];
  const reading = { ...billsRequest, cursor: null };
  for await (const page of readPages(client, reading, (page: ListPage) => page))
    sizes.push(page.records.length);
  expect(sizes).toEqual([50, 50]);
  expect(api.requests.map(({ query }) => query.get('limit'))).toEqual(['500', '50', '50']);
});

test('a default page that is too large after a refused limit is requested again with a smaller limit', async () => {
  const api = await startScriptedApi(({ query }, response) => {
    const count = Number(query.get('limit') ?? 200);
    if (count > 200) response.writeHead(400).end();
    else {
      const bills = Array.from({ length: count }, () => ({ id: 'b', memo: 'x'.repeat(1_000) }));
      answerJson(response, { bills, next_cursor: query.has('cursor') ? null : 'a' });
    }
  });
  const { client } = clientOf(api, { limits: { bytes: 55_000 } });
  const sizes: number[] = [];
  for await (const page of readPages(client, { ...billsRequest, cursor: null }, (page: ListPage) => page))
    sizes.push(page.records.length);
  expect(sizes).toEqual([50, 50]);
  expect(api.requests.map(({ query }) => query.get('limit'))).toEqual(['500', null, '50', '50']);
});

test('a single record that is too large is an error with a message, after requests for fewer and fewer records', async () => {
  const api = await startScriptedApi((_, response) => {
    answerJson(response, { bills: [{ id: 'b', memo: 'x'.repeat(60_000) }] });
  });
  const { client } = clientOf(api, { limits: { bytes: 50_000 } });
  const reading = readPages(client, { ...billsRequest, cursor: null }, (page: ListPage) => page);
  await expect(reading.next()).rejects.toThrow(
    'GET /accounting/bills answered with a body of more than 50,000 bytes (200, request req_1): ' +
      'it will be retried; if that does not help, check DAYBOOK_API_URL and any proxy in between.',
  );
  expect(api.requests.map(({ query }) => query.get('limit'))).toEqual(['500', '50', '5', '1']);
});

test('a default page that is too large is an error if the service refuses every limit', async () => {
  const api = await startScriptedApi(({ query }, response) => {
    if (query.has('limit')) response.writeHead(400).end();
    else answerJson(response, { bills: [{ id: 'b', memo: 'x'.repeat(60_000) }] });
  });
  const { client } = clientOf(api, { limits: { bytes: 50_000 } });
  const reading = readPages(client, { ...billsRequest, cursor: null }, (page: ListPage) => page);
  await expect(reading.next()).rejects.toThrow('a body of more than 50,000 bytes');
  const limits = ['500', null, '50', null, '5', null, '1', null];
  expect(api.requests.map(({ query }) => query.get('limit'))).toEqual(limits);
});

const basic = Buffer.from(`client:${clientSecret}`).toString('base64');

test.each([
  ['the client secret', clientSecret],
  ['the client id and secret', `client:${clientSecret}`],
  ['the client secret among other words', `req.${clientSecret}:1`],
  ['the client secret, cut off', clientSecret.slice(0, -3)],
  ['the client secret in base64', Buffer.from(clientSecret).toString('base64')],
  ['the client secret in base64 for URLs', Buffer.from(clientSecret).toString('base64url')],
  ['the header of the credentials', basic],
  ['the header of the credentials, without padding', basic.replace(/=+$/, '')],
  ['the access token', accessToken],
  ['the access token in hexadecimal digits', Buffer.from(accessToken).toString('hex')],
])('a request ID that is %s is ignored', async (_, id) => {
  for (const status of [200, 400, 500]) {
    const api = await startScriptedApi((_, response) => {
      response.writeHead(status, { 'x-service-request-id': id }).end('{"error_code":"X"}');
    });
    const error: unknown = await clientOf(api)
      .client.list(billsRequest)
      .catch((error: unknown) => error);
    expect(error).toMatchObject({ requestId: null, status });
    expect((error as Error).message).not.toContain(id);
  }
});

test.each([
  ['a UUID', '3f2c6c1e-8a54-4c0b-9d7e-0f4b1c2d3e4f'],
  ['base64', 'eftixk72aD6Ap51TnqcoF8eFidJG9Z/2+kiDFu8yU9AtS1ed4OpIszj7UDNEHGran=='],
  ['a trace', 'Root=1-67891233-abcdef012345678912345678'],
])('a request ID that is %s is told with the error', async (_, id) => {
  const api = await startScriptedApi((_, response) => {
    response.writeHead(400, { 'x-service-request-id': id }).end();
  });
  const listing = clientOf(api).client.list(billsRequest);
  await expect(listing).rejects.toMatchObject({
    requestId: id,
    message: expect.stringContaining(`request ${id})`) as string,
  });
});

test.each([
  ['an address of the web', 'https://example.com/login'],
  ['an address without its scheme', 'example.com/login'],
  ['an access token with its name', 'access_token=another-company'],
  ['several words', 'two words'],
  ['markup', '<b>'],
  ['not ASCII', 'é'],
  ['longer than 128 characters', 'A'.repeat(127) + '=='],
])('a request ID that is %s is ignored', async (_, id) => {
  const api = await startScriptedApi((_, response) => {
    response.writeHead(400, { 'x-service-request-id': id }).end();
  });
  await expect(clientOf(api).client.list(billsRequest)).rejects.toMatchObject({ requestId: null });
});

test('an error code that is the client secret is ignored', async () => {
  const secret = 'SECRET_OF_THE_CLIENT';
  const api = await startScriptedApi((_, response) => {
    response.writeHead(400, { 'x-service-request-id': '7f3a-1' }).end(`{"error_code":"${secret}"}`);
  });
  const listing = clientOf(api, { clientSecret: secret }).client.list(billsRequest);
  await expect(listing).rejects.toMatchObject({ errorCode: null, requestId: '7f3a-1' });
});

test.each([
  ['{"id":"b", "access_token":"t","total_amount":1.10}', '{"id":"b", "total_amount":1.10}'],
  [
    String.raw`{"id":"b","platform_data":{"a":[{"\u0061ccessToken":"t"}]}}`,
    '{"id":"b","platform_data":{"a":[{}]}}',
  ],
  ['{"id":"b","url":"https://x/?access_token=t&a=1"}', '{"id":"b","url":"https://x/?access_token=&a=1"}'],
])('a record sent as %s is kept as %s, from a list or a fetch', async (sent, left) => {
  const api = await startScriptedApi(({ path }, response) => {
    answerJson(response, path.endsWith('/b') ? `{"bill":${sent}}` : `{"bills":[{"id":"a"},${sent}]}`);
  });
  const { client } = clientOf(api);
  const record = { text: left, value: JSON.parse(left) as unknown };
  expect((await client.list(billsRequest)).records).toEqual([
    { text: '{"id":"a"}', value: { id: 'a' } },
    record,
  ]);
  expect((await client.fetch({ accessToken, resource: bills, id: 'b' })).record).toEqual(record);
});

test('a record without a token stays as it was sent, to the last character', async () => {
  const sent = String.raw`{"id":"b" ,"memo":"the access_token is lost \u00e9\/ \u0041","total_amount":12345678901234567890.120, "x":1e400}`;
  const api = await startScriptedApi((_, response) => {
    answerJson(response, `{"bills":[${sent}]}`);
  });
  expect((await clientOf(api).client.list(billsRequest)).records[0]?.text).toBe(sent);
});

/** Sends until the receiver stops taking data, or 30 MB. */
function flood(socket: Socket, piece: string): void {
  const send = (): void => {
    while (!socket.destroyed) if (!socket.write(piece)) return;
  };
  socket.on('drain', send);
  socket.on('error', () => undefined);
  send();
}

function sendOn(response: ServerResponse, piece: Buffer): void {
  let left = 30_000_000;
  const send = (): void => {
    while (left > 0 && !response.destroyed) {
      left -= piece.length;
      if (!response.write(piece)) return;
    }
    response.end();
  };
  response.on('drain', send);
  response.on('error', () => undefined);
  send();
}

test.each([
  ['an id', { id: `id-${accessToken}`, orgId: 'org' }, 'a connection whose id repeats a secret'],
  [
    'an address as organisation',
    { id: 'company', orgId: `https://api/?access_token=another` },
    'a connection whose orgId repeats a secret',
  ],
  [
    'a platform',
    { id: 'company', orgId: 'org', platform: `of ${clientSecret}` },
    'a connection whose platform repeats a secret',
  ],
  [
    'names of megabytes',
    { id: 'company', orgId: 'o'.repeat(8_000_000) },
    'a connection whose orgId has more than 200 characters',
  ],
])(
  'a page is refused if the identity of its company repeats a secret or is too long: %s',
  async (_, connection, problem) => {
    const api = await startScriptedApi((_, response) => {
      answerJson(response, JSON.stringify({ bills: [], next_cursor: null, connection }));
    });
    await expect(clientOf(api).client.list(billsRequest)).rejects.toThrow(`answered with ${problem}`);
  },
);

test('a cursor that repeats the access token is refused, as it would be stored in plain text', async () => {
  const api = await startScriptedApi((_, response) => {
    const next = `https://api/?access_token=${accessToken}&cursor=2`;
    answerJson(response, JSON.stringify({ bills: [], next_cursor: next }));
  });
  await expect(clientOf(api).client.list(billsRequest)).rejects.toThrow(
    'answered with a next_cursor that repeats a secret',
  );
});

test('a check of a decimal string of megabytes takes less than a second', () => {
  const record = { currency_rate: `${'1'.repeat(4_000_000)}x` };
  const started = performance.now();
  expect(findFieldIssues(bills, record)).toHaveLength(1);
  expect(performance.now() - started).toBeLessThan(1_000);
});

test('a cursor that is too long for a URL is refused', async () => {
  const api = await startScriptedApi((_, response) => {
    answerJson(response, { bills: [], next_cursor: '%'.repeat(8_193) });
  });
  const { client } = clientOf(api);
  await expect(client.list(billsRequest)).rejects.toMatchObject({
    name: 'UnreadableResponse',
    message: expect.stringMatching(/a next_cursor of more than 8192 characters/) as string,
  });
});

test('an error about a record whose ID is the access token does not contain the ID', async () => {
  const api = await startScriptedApi((_, response) => {
    response.statusCode = 500;
    response.end('{}');
  });
  const { client } = clientOf(api);
  const fetching = client.fetch({ accessToken, resource: bills, id: accessToken });
  await expect(fetching).rejects.toThrow(/^GET \/accounting\/bills\/… failed \(500\)/);
});

test('a Date header from an impossible year is ignored', () => {
  expect(parseServedAt('Mon, 01 Jan 12345 00:00:00 GMT')).toBeNull();
  expect(parseServedAt('Mon, 01 Jan 0100 00:00:00 GMT')).toBeNull();
  expect(parseServedAt('Sat, 28 Nov 2026 07:00:00 GMT')).toEqual(new Date('2026-11-28T07:00:00Z'));
});
