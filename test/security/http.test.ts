import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { pino } from 'pino';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startHttpServer } from '../../server/start-http-server.ts';
import { openWarehouse } from '../../warehouse/open-warehouse.ts';
import { createWebhookIntake } from '../../server/webhooks/webhook-intake.ts';
import { settingsOf } from '../console/open-console.ts';
import { createInstallation } from '../support/installation.ts';
import { some } from '../support/proof-test.ts';
import { collectRoutes, type Route } from './collect-routes.ts';

const installation = await createInstallation();
const { warehouse, client: temporal } = installation;
const logger = pino({ level: 'silent' });
const password = 'planted-console-password';
/** Nobody listens there, so everything that needs Postgres fails. */
const unreachable = openWarehouse({ url: 'postgres://nobody@127.0.0.1:9/nothing', connections: 1 });
/** Fewer connections than are admitted at once. */
const dispatcher = new Agent({ connections: 20 });
afterAll(() => Promise.all([unreachable.close(), dispatcher.close()]));

let routes: Route[];
let guarded: string;
let open: string;

beforeAll(async () => {
  routes = await collectRoutes(async () => {
    guarded = await start(password);
  });
  open = await start(undefined);
});

/** Routes with a guard of their own, or with nothing to hide. */
const outside = ['GET /healthz', 'GET /metrics', 'GET /readyz', 'POST /webhooks'];

describe('every route', () => {
  test('needs the password, except probes, metrics and signed webhooks', async () => {
    expect(routes.length).toBeGreaterThan(25);
    const without = await statuses(guarded, {});
    const free = Object.keys(without).filter((route) => without[route] !== 401);
    expect(free.filter((route) => !route.startsWith('HEAD')).sort()).toEqual(
      outside.filter((route) => !route.startsWith('POST')),
    );
  });

  test('that changes something refuses cross-site requests, even with the password', async () => {
    for (const url of [guarded, open]) {
      const sent = await statuses(url, { authorization: basic, 'sec-fetch-site': 'cross-site' });
      for (const [route, status] of Object.entries(sent).filter(([name]) => name.startsWith('POST')))
        expect(status, route).toBe(route === 'POST /webhooks' ? 401 : 403);
    }
  });

  test('refuses a foreign host name that resolves to it, if there is no password', async () => {
    const asked = await statuses(open, { host: 'evil.example', 'sec-fetch-site': 'same-origin' });
    for (const [route, status] of Object.entries(asked).filter(([name]) => !isOutside(name)))
      expect(status, route).toBe(403);
  });

  test.each([
    ['x-forwarded-for', '203.0.113.7'],
    ['x-forwarded-proto', 'https'],
    ['forwarded', 'for=203.0.113.7;host=daybook.example'],
    ['via', '1.1 proxy'],
    ['x-real-ip', '203.0.113.7'],
  ])(
    'refuses a client behind a proxy (%s) if there is no password, except at probes and webhooks',
    async (name, value) => {
      const headers = { host: 'localhost', 'sec-fetch-site': 'same-origin', [name]: value };
      const asked = await statuses(open, headers);
      for (const [route, status] of Object.entries(asked).filter(([one]) => !isOutside(one)))
        expect(status, route).toBe(403);
      const free = { 'GET /healthz': 200, 'GET /readyz': 200, 'GET /metrics': 200, 'POST /webhooks': 401 };
      expect(asked).toMatchObject(free);
      const refused = await request(open, { dispatcher, headers });
      expect(await refused.body.text()).toContain('set DAYBOOK_CONSOLE_PASSWORD');
    },
  );

  test('lets a client behind a proxy in with the password', async () => {
    const headers = { authorization: basic, 'x-forwarded-for': '203.0.113.7', via: '1.1 proxy' };
    expect((await ask(guarded, { method: 'GET', path: '/' }, headers)).status).toBe(200);
  });

  test('tells browsers to load nothing from elsewhere, to show it in no frame and to cache nothing', async () => {
    for (const { method, path } of routes.filter((route) => !isOutside(nameOf(route)))) {
      const { headers } = await ask(guarded, { method, path });
      expect(headers, path).toMatchObject({
        'content-security-policy': expect.stringMatching(
          /^default-src 'none'; .*frame-ancestors 'none'/,
        ) as string,
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'same-origin',
        'cache-control': 'no-store',
      });
    }
  });
});

describe('a flood', () => {
  test('of forged webhooks is refused without Postgres', async () => {
    const answers = await Promise.all(
      Array.from({ length: 300 }, () =>
        request(`${guarded}/webhooks`, {
          dispatcher,
          method: 'POST',
          headers: { 'x-service-signature': 'sha256=forged' },
          body: '{"type":"BILL"}',
        }),
      ),
    );
    for (const { statusCode, body } of answers) {
      await body.dump();
      expect(statusCode).toBe(401);
    }
  });

  test('of connections is capped at 250: a new one is served, and the one silent longest is closed', async () => {
    const url = await start(undefined);
    const [first, second] = [await dial(url), await dial(url)];
    const others = await Promise.all(Array.from({ length: 248 }, () => dial(url)));
    for (const socket of [second, ...others.slice(200)]) {
      socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
      expect(await readAnswer(socket)).toContain('200 OK');
    }
    const gone = once(first, 'close');
    const last = await dial(url);
    await gone;
    for (const socket of [last, second]) {
      socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
      expect(await readAnswer(socket)).toContain('200 OK');
    }
    for (const socket of [second, last, ...others]) socket.destroy();
  });

  test.each([
    ['says nothing', ''],
    ['never ends its headers', 'GET / HTTP/1.1\r\nHost: localhost\r\nX: '],
    ['never ends its form', formHead('/quarantine/discard')],
    ['never ends its webhook', formHead('/webhooks')],
  ])('of connections, each of which %s, blocks no one', async (_, text) => {
    const url = await start(undefined);
    const sockets = await Promise.all(Array.from({ length: 300 }, () => dial(url)));
    for (const socket of sockets) socket.write(text);
    for (const path of ['/healthz', '/readyz', '/', '/metrics']) {
      const started = performance.now();
      expect((await ask(url, { method: 'GET', path })).status, path).toBe(200);
      expect(performance.now() - started, path).toBeLessThan(5_000);
    }
    for (const socket of sockets) socket.destroy();
  });
});

describe('a request that', () => {
  test.each([
    ['has a form of more than 64 KB', '/quarantine/discard', 65 * 1024],
    ['has a webhook of more than 2 MB', '/webhooks', 2 * 1024 * 1024 + 1],
  ])('%s is refused before it is read', async (_, path, length) => {
    const socket = await dial(guarded);
    socket.write(buildHead(path, length));
    expect(await readAnswer(socket)).toContain('413 Payload Too Large');
    socket.destroy();
  });

  test.each([
    ['a header', `GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`],
    ['an address', `GET /runs?before=${'x'.repeat(20_000)} HTTP/1.1\r\n\r\n`],
  ])('has %s of more than 16 KB is refused', async (_, text) => {
    const socket = await dial(guarded);
    socket.write(text);
    expect(await readAnswer(socket)).toContain('431 Request Header Fields Too Large');
  });

  test.each([
    ['has a long address', `GET /?${'x'.repeat(20_000)} HTTP/1.1\r\nCookie: ${'x'.repeat(13_000)}\r\n\r\n`],
    ['has a large header', `GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\nCookie: a=b\r\n\r\n`],
  ])('%s, which a link can cause, does not clear cookies of the host', async (_, text) => {
    const socket = await dial(guarded);
    socket.write(text);
    const answer = await readAnswer(socket);
    expect(answer).toContain('431 Request Header Fields Too Large');
    expect(answer).toContain('clear the cookies of this host');
    expect(answer).not.toContain('Clear-Site-Data');
  });

  const large = `a=${'x'.repeat(3_500)}; b=${'x'.repeat(3_500)}; c=${'x'.repeat(3_500)}; d=${'x'.repeat(3_500)}`;
  const body = 'x'.repeat(20_000);
  test.each([
    ['has cookies that are too large', '', 'GET / HTTP/1.1', true],
    [
      'has them after another of its connection',
      `POST /nowhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      'GET / HTTP/1.1',
      true,
    ],
    ['has them beside a long address', '', `GET /?${'x'.repeat(5_000)} HTTP/1.1`, false],
  ])(
    '%s, and arrives in several packets, is recognized by its first line and headers',
    async (_, before, line, clears) => {
      const { socket, arrived } = await dialWatched(guarded);
      if (before !== '') {
        socket.write(before);
        expect(await readAnswer(socket)).toContain('HTTP/1.1 4');
      }
      const text = `${line}\r\nHost: localhost\r\nCookie: ${large}; ${large}\r\n\r\n`;
      for (let first = 0; first < 15_000; first += 5_000) {
        socket.write(text.slice(first, first + 5_000));
        await arrived(before.length + first + 5_000);
      }
      socket.write(text.slice(15_000));
      const answer = await readAnswer(socket);
      expect(answer).toContain('431 Request Header Fields Too Large');
      expect(answer.includes('Clear-Site-Data: "cookies"')).toBe(clears);
    },
  );

  test.concurrent.each(some(['/webhooks', '/quarantine/discard']))(
    'never ends is answered with a timeout, at %s',
    async (path) => {
      const socket = await dial(guarded);
      socket.write(`${buildHead(path, 100)}half`);
      expect(await readAnswer(socket)).toContain('408 Request Timeout');
    },
    60_000,
  );
});

const basic = `Basic ${Buffer.from(`ops:${password}`).toString('base64')}`;

async function start(consolePassword: string | undefined): Promise<string> {
  const settings = { ...settingsOf(installation.env), consolePassword };
  const webhooks = createWebhookIntake({
    warehouse: unreachable,
    temporal,
    logger,
    apiAddress: settings.api.address,
    clientSecret: settings.api.clientSecret,
  });
  const server = await startHttpServer({
    host: '127.0.0.1',
    port: 0,
    portIsDefault: false,
    logger,
    readiness: {},
    webhooks,
    metrics: () => Promise.resolve(''),
    console: { settings, warehouse, temporal, logger },
  });
  afterAll(() => server.close());
  return server.url;
}

/** The status of each route, by `METHOD /path`. */
async function statuses(url: string, headers: Record<string, string>): Promise<Record<string, number>> {
  const answers = routes.map(
    async (route) => [nameOf(route), (await ask(url, route, headers)).status] as const,
  );
  return Object.fromEntries(await Promise.all(answers));
}

async function ask(
  url: string,
  { method, path }: Route,
  headers: Record<string, string> = {},
): Promise<{ status: number; headers: object }> {
  const answer = await request(url + path.replaceAll(/:\w+/g, 'nobody'), {
    dispatcher,
    method: method as 'GET' | 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  });
  await answer.body.dump();
  return { status: answer.statusCode, headers: answer.headers };
}

function nameOf({ method, path }: Route): string {
  return `${method} ${path}`;
}

function isOutside(name: string): boolean {
  return outside.includes(name.replace('HEAD', 'GET'));
}

function formHead(path: string): string {
  return buildHead(path, 1_000);
}

function buildHead(path: string, length: number): string {
  return [
    `POST ${path} HTTP/1.1`,
    ...['Host: localhost', `Authorization: ${basic}`, 'Sec-Fetch-Site: same-origin'],
    ...['Content-Type: application/x-www-form-urlencoded', `Content-Length: ${length}`],
    '\r\n',
  ].join('\r\n');
}

async function dial(url: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  await once(socket, 'connect');
  return socket.on('error', () => undefined);
}

/** Opens a connection, with a function that waits until the server has read so many bytes of it. */
async function dialWatched(
  url: string,
): Promise<{ socket: Socket; arrived: (bytes: number) => Promise<void> }> {
  const accepted: Socket[] = [];
  const note = (message: unknown): void => {
    accepted.push((message as { socket: Socket }).socket);
  };
  subscribe('net.server.socket', note);
  const socket = await dial(url);
  const own = await vi.waitUntil(() => accepted.find(({ remotePort }) => remotePort === socket.localPort));
  unsubscribe('net.server.socket', note);
  const arrived = async (bytes: number): Promise<void> => {
    await vi.waitUntil(() => own.bytesRead === bytes, { timeout: 10_000, interval: 1 });
  };
  return { socket, arrived };
}

/** The first data received. Empty if the connection closes without any. */
async function readAnswer(socket: Socket | undefined): Promise<string> {
  if (socket === undefined) return '';
  const [said] = (await Promise.race([once(socket, 'data'), once(socket, 'close')])) as [unknown];
  return String(said);
}
