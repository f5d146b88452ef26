import type { ServerResponse } from 'node:http';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { SourceRecord } from '../../resources/source-record.ts';
import type { ApiClient } from '../../source/api-client.ts';
import type { FetchedRecord, ListPage } from '../../source/responses.ts';
import { isProof } from '../support/proof-test.ts';
import { accessToken, billsRequest, clientOf, clientSecret, startScriptedApi } from './scripted-api.ts';

const runs = { numRuns: Number(process.env.TEST_FUZZ ?? (isProof ? 300 : 100)), seed: 20_261_122 };
const timeouts = { headersMilliseconds: 300, bodyIdleMilliseconds: 300, totalMilliseconds: 600 };

test.each(['list', 'fetch'] as const)(
  'any answer to a %s is returned as it came, or is an error that says what to do, within seconds',
  async (kind) => {
    let answer: Answer;
    const api = await startScriptedApi((_, response) => {
      send(response, answer);
    });
    const { client, budget } = clientOf(api, { timeouts, limits: { bytes: 100_000 } });
    await fc.assert(
      fc.asyncProperty(anyAnswer(), async (next) => {
        answer = next;
        const started = performance.now();
        const outcome = await ask(client, kind);
        expect(performance.now() - started).toBeLessThan(3_000);
        if (outcome instanceof Error) expectExplained(outcome);
        else expectAsItCame(outcome);
        for (const silence of budget.reported) expect(silence).toBeLessThanOrEqual(15 * 60_000);
      }),
      { ...runs, examples: found.map((one) => [one]) },
    );
  },
);

/** Likely failures, and failures that occurred. */
const found: Answer[] = [
  { status: 200, headers: {}, body: '{"bills":[],"next_cursor":{}}', isWhole: true },
  { status: 200, headers: {}, body: '{"bills":[{"id":"\\ud800"}]}', isWhole: true },
  { status: 200, headers: { date: 'Fri, 99 Foo 2026 00:00:00 GMT' }, body: '{"bills":[]}', isWhole: true },
  { status: 429, headers: { 'retry-after': '9'.repeat(400) }, body: '', isWhole: true },
  { status: 200, headers: { 'content-encoding': 'gzip' }, body: 'not gzip', isWhole: true },
];

async function ask(client: ApiClient, kind: 'list' | 'fetch'): Promise<ListPage | FetchedRecord | Error> {
  try {
    return await (kind === 'list'
      ? client.list(billsRequest)
      : client.fetch({
          accessToken,
          resource: { listPath: '/accounting/bills', singular: 'bills' },
          id: '1',
        }));
  } catch (error) {
    return error as Error;
  }
}

function expectExplained(error: Error): void {
  const { handling } = error as { handling?: unknown };
  expect(['retry', 'wait', 'stop', 'restart'], error.stack).toContain(handling);
  expect(error.message).toMatch(/^GET \/accounting\/bills.*: .+\.$/s);
  const told = `${error.stack ?? ''} ${JSON.stringify(error)}`;
  for (const secret of [accessToken, clientSecret]) expect(told).not.toContain(secret);
}

function expectAsItCame(answer: ListPage | FetchedRecord): void {
  if ('record' in answer) {
    expectSame(answer.record);
    return;
  }
  answer.records.forEach(expectSame);
  expect([null, 'string']).toContain(answer.nextCursor === null ? null : typeof answer.nextCursor);
  expect(answer.nextCursor).not.toBe('');
}

function expectSame({ text, value }: SourceRecord): void {
  expect(JSON.parse(text)).toEqual(value);
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  /** If false, the connection breaks before the end. */
  readonly isWhole: boolean;
}

function send(response: ServerResponse, { status, headers, body, isWhole }: Answer): void {
  response.writeHead(status, headers);
  if (isWhole) response.end(body);
  else response.write(body.length === 0 ? ' ' : body, () => response.destroy());
}

function anyAnswer(): fc.Arbitrary<Answer> {
  return fc.record({
    status: fc.oneof(
      { weight: 3, arbitrary: fc.constant(200) },
      { weight: 1, arbitrary: fc.integer({ min: 201, max: 599 }) },
    ),
    headers: fc.dictionary(
      fc.constantFrom(
        'date',
        'retry-after',
        'x-service-request-id',
        'content-type',
        'content-encoding',
        'location',
      ),
      fc.oneof(
        fc.string().map((text) => text.replaceAll(/[^\x20-\x7e]/g, '')),
        fc.constantFrom(
          'gzip',
          '-1',
          '1e9',
          accessToken,
          'Thu, 01 Jan 1970 00:00:00 GMT',
          'http://evil.example/',
        ),
      ),
    ),
    body: fc.oneof(
      { weight: 4, arbitrary: pageLike() },
      { weight: 1, arbitrary: fc.json() },
      { weight: 1, arbitrary: fc.uint8Array() },
      { weight: 1, arbitrary: pageLike().map((text) => text.slice(0, -1)) },
    ),
    isWhole: fc.integer({ min: 0, max: 9 }).map((n) => n > 0),
  });
}

/** Members with documented names and arbitrary values, in any order, some of them repeated. */
function pageLike(): fc.Arbitrary<string> {
  const connection = fc.constant('{"id":"c","orgId":"o","platform":"NETSUITE"}');
  const value = fc.oneof(
    fc.json(),
    fc
      .array(
        fc.oneof(fc.json(), fc.constantFrom('{"id":"1","total_amount":1.10e+400}', '{"id":"\\u0000"}')),
        { maxLength: 4 },
      )
      .map((all) => `[${all.join(' ,')}]`),
    connection,
    fc.constantFrom('""', `"${accessToken}"`, '"next"', 'null', '{}'),
  );
  const name = fc.constantFrom(
    'bills',
    'connection',
    'next_cursor',
    'error_code',
    'b\\u0069lls',
    '__proto__',
    'x',
  );
  return fc
    .array(fc.tuple(name, value), { maxLength: 5 })
    .map((members) => `{${members.map(([key, text]) => `"${key}" : ${text}`).join(',')}}`);
}
