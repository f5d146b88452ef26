import { once } from 'node:events';
import { connect } from 'node:net';
import fc from 'fast-check';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSandbox } from '../../sandbox/start-sandbox.ts';
import { startHttpServer } from '../../server/start-http-server.ts';
import { createWebhookIntake } from '../../server/webhooks/webhook-intake.ts';
import { webhookSignature } from '../../source/webhook-signature.ts';
import { settingsOf } from '../console/open-console.ts';
import { createInstallation } from '../support/installation.ts';
import { isProof } from '../support/proof-test.ts';
import { collectRoutes, type Route } from './collect-routes.ts';

const installation = await createInstallation();
const { warehouse, client: temporal } = installation;
const sandbox = await startSandbox({ records: 100 });
const settings = settingsOf(installation.env);
/** Errors that a defect would write to the log. */
const errors: string[] = [];
const logger = pino({ level: 'error' }, { write: (line) => void errors.push(line) });
const runs = { numRuns: Number(process.env.TEST_FUZZ ?? (isProof ? 150 : 50)), seed: 20_261_122 };
let url: string;
let routes: Route[];

beforeAll(async () => {
  routes = await collectRoutes(async () => {
    const server = await startHttpServer({
      host: '127.0.0.1',
      port: 0,
      portIsDefault: false,
      logger,
      readiness: {},
      metrics: () => Promise.resolve(''),
      console: { settings, warehouse, temporal, logger },
      webhooks: createWebhookIntake({
        warehouse,
        temporal,
        logger,
        apiAddress: settings.api.address,
        clientSecret: settings.api.clientSecret,
      }),
    });
    url = server.url;
    afterAll(() => server.close());
  });
});
afterAll(() => sandbox.close());

describe('arbitrary input causes no failure, and later requests are served', () => {
  test('at the webhook route: forged or signed, JSON or not', async () => {
    const body = fc.oneof(fc.json(), fc.string({ unit: 'binary' }), webhookLike());
    await fc.assert(
      fc.asyncProperty(body, fc.boolean(), fc.string(), async (text, isSigned, forged) => {
        const signature = isSigned ? webhookSignature(text, settings.api.clientSecret) : header(forged);
        const status = await say({
          method: 'POST',
          path: '/webhooks',
          text,
          headers: { 'x-service-signature': signature },
        });
        expect(isSigned ? [200, 400] : [401]).toContain(status);
      }),
      runs,
    );
    await isWell();
  });

  test('at every route of the console: any name, any query, any form', async () => {
    const route = fc.nat().map((index) => routes[index % routes.length] ?? { method: 'GET', path: '/' });
    const form = fc.array(
      fc.tuple(
        fc.constantFrom('id', 'why', 'shown', 'x'),
        fc.oneof(fc.string({ unit: 'binary' }), fc.nat().map(String), shown()),
      ),
    );
    await fc.assert(
      fc.asyncProperty(route, name(), form, fc.string(), async ({ method, path }, part, fields, query) => {
        const status = await say({
          method,
          path: `${path.replaceAll(/:\w+/g, part)}?before=${encodeURIComponent(query)}&page=${encodeURIComponent(query)}`,
          text: new URLSearchParams(fields).toString(),
          headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
        });
        expect(status).toBeLessThan(500);
      }),
      runs,
    );
    await isWell();
  });

  test('as a raw request: methods, targets and headers that no client sends', async () => {
    await fc.assert(
      fc.asyncProperty(rawRequest(), async (text) => {
        const status = await exchange(url, text);
        expect(status === undefined || status < 500 || status === 501, `${String(status)} for ${text}`).toBe(
          true,
        );
      }),
      runs,
    );
    await isWell();
  });

  test("at the sandbox's admin port", async () => {
    const path = fc.constantFrom(
      '/commands',
      '/activity',
      '/faults',
      '/webhooks',
      '/webhooks/send',
      '/settings',
      '/nothing',
    );
    const members = fc.dictionary(
      fc.constantFrom(
        'kind',
        'connection',
        'resource',
        'id',
        'patch',
        'address',
        'addresses',
        'body',
        'match',
        'fault',
        'seed',
      ),
      fc.oneof(
        fc.jsonValue(),
        fc.constantFrom('acme-us', 'bills', 'change', 'delete', 'touch', 'http://evil.example/'),
      ),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('POST', 'PUT'),
        path,
        fc.oneof(
          fc.json(),
          members.map((one) => JSON.stringify(one)),
        ),
        async (method, at, text) => {
          const status = await say({
            method,
            path: at,
            text,
            headers: { 'content-type': 'application/json' },
            to: sandbox.adminUrl,
          });
          expect(status, `${method} ${at} ${text}`).toBeLessThan(500);
        },
      ),
      runs,
    );
    expect((await fetch(`${sandbox.adminUrl}/connections`)).status).toBe(200);
  });
});

async function isWell(): Promise<void> {
  for (const path of ['/healthz', '/', '/quarantine']) expect((await fetch(url + path)).status).toBe(200);
  expect(errors).toEqual([]);
}

/** A text that resembles a webhook, with arbitrary values anywhere. */
function webhookLike(): fc.Arbitrary<string> {
  return fc
    .record(
      {
        type: fc.oneof(fc.constantFrom('BILL', 'EXPENSE', 'CONNECTION', 'JOB'), fc.jsonValue()),
        code: fc.jsonValue(),
        connection_id: fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue()),
        access_token: fc.jsonValue(),
        bill: fc.oneof(fc.record({ id: fc.jsonValue(), last_synced_at: fc.jsonValue() }), fc.jsonValue()),
      },
      { requiredKeys: [] },
    )
    .map((webhook) => JSON.stringify(webhook));
}

function shown(): fc.Arbitrary<string> {
  return fc
    .tuple(
      fc.constantFrom('bills', '__proto__', 'constructor', ''),
      fc.oneof(fc.integer().map(String), fc.string()),
      fc.string(),
    )
    .map((parts) => parts.join(' '));
}

/** A part of a path. */
function name(): fc.Arbitrary<string> {
  return fc.oneof(
    fc.string({ unit: 'grapheme' }).map(encodeURIComponent),
    fc.constantFrom(
      '%00',
      '..',
      '%2e%2e%2f',
      '%zz',
      '%',
      '__proto__',
      'a%2fb',
      '%ff',
      '%ed%a0%80',
      "'--",
      'x'.repeat(3_000),
    ),
  );
}

function header(text: string): string {
  return text.replaceAll(/[^\x21-\x7e]/g, '');
}

function rawRequest(): fc.Arbitrary<string> {
  const target = fc.oneof(
    fc.constantFrom(
      '/',
      '//',
      '//evil.example/',
      '/runs?before=%zz',
      '*',
      'http://evil.example/',
      'http://[/',
      'http://a:99999/',
      '/%zz',
      '/runs/../healthz',
    ),
    fc.string().map((text) => `/${header(text)}`),
  );
  const headers = fc.array(
    fc.constantFrom(
      ...[
        'Transfer-Encoding: chunked',
        'Transfer-Encoding: xchunked',
        'Transfer-Encoding : chunked',
        'Content-Length: 5',
      ],
      ...[
        'Content-Length: 4\r\nContent-Length: 5',
        'Content-Length: -1',
        'Content-Length: 9999999999999999999999',
        'Expect: 100-continue',
      ],
      ...[
        'Expect: wonders',
        'Upgrade: h2c\r\nConnection: Upgrade',
        'Content-Encoding: gzip',
        'Cookie: daybook_notice=%',
        'Cookie: daybook_notice=done%20x',
      ],
      ...[
        'Authorization: Basic %%%',
        'Sec-Fetch-Site: same-origin',
        'Content-Type: application/x-www-form-urlencoded',
        'Content-Type: a/b; c',
      ],
      ...['X-Forwarded-For: 10.0.0.1', 'Origin: http://[', 'Referer: x', `X: ${'x'.repeat(2_000)}`],
    ),
    { maxLength: 5 },
  );
  return fc
    .tuple(
      fc.constantFrom(
        'GET',
        'HEAD',
        'POST',
        'PUT',
        'DELETE',
        'OPTIONS',
        'TRACE',
        'CONNECT',
        'PROPFIND',
        'get',
        'EVIL',
      ),
      target,
      headers,
      fc.string(),
    )
    .map(([method, to, lines, body]) =>
      [`${method} ${to} HTTP/1.1`, 'Host: localhost', ...lines, '', body].join('\r\n'),
    );
}

function say(sent: {
  method: string;
  path: string;
  text: string;
  headers: Record<string, string>;
  to?: string;
}): Promise<number | undefined> {
  const body = Buffer.from(sent.text);
  const lines = Object.entries({
    host: 'localhost',
    connection: 'close',
    ...sent.headers,
    'content-length': String(body.length),
  });
  const head = [
    `${sent.method} ${sent.path} HTTP/1.1`,
    ...lines.map(([key, value]) => `${key}: ${value}`),
    '',
    '',
  ].join('\r\n');
  return exchange(sent.to ?? url, Buffer.concat([Buffer.from(head), body]));
}

/** The first status of the answer. Undefined if the connection closed without one, or no answer comes. */
async function exchange(to: string, text: string | Buffer): Promise<number | undefined> {
  const socket = connect(Number(new URL(to).port), '127.0.0.1').on('error', () => undefined);
  socket.write(text);
  // The server may wait for the rest of half a request.
  if (typeof text === 'string') setTimeout(() => socket.end(), 200);
  const [said] = (await Promise.race([once(socket, 'data'), once(socket, 'close')])) as [unknown];
  socket.destroy();
  const [, status] = /^HTTP\/1\.1 (\d{3})/.exec(String(said)) ?? [];
  return status === undefined ? undefined : Number(status);
}
