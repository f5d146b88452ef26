import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { pino } from 'pino';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startHttpServer, type HttpServer } from '../../server/start-http-server.ts';

type Settings = Parameters<typeof startHttpServer>[0];

const silent = pino({ level: 'silent' });

async function start(settings: Partial<Settings> = {}): Promise<HttpServer> {
  const server = await startHttpServer({
    host: '127.0.0.1',
    port: 0,
    portIsDefault: false,
    readiness: {},
    metrics: () => Promise.resolve(''),
    logger: silent,
    ...settings,
  });
  onTestFinished(() => server.close());
  return server;
}

async function occupiedPort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

describe('/healthz', () => {
  test('says that the process is alive, even if a readiness check fails', async () => {
    const { url } = await start({ readiness: { database: () => Promise.reject(new Error('gone')) } });
    const response = await fetch(`${url}/healthz`);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ status: 'ok' });
  });
});

describe('/readyz', () => {
  test('is 200 if every check passes', async () => {
    const { url } = await start({
      readiness: { database: () => Promise.resolve(), temporal: () => Promise.resolve() },
    });
    const response = await fetch(`${url}/readyz`);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ ready: true, checks: { database: 'ok', temporal: 'ok' } });
  });

  test('is 503 and names the failing check, but not the reason', async () => {
    const { url } = await start({
      readiness: {
        database: () => Promise.reject(new Error('password authentication failed for user "ledger"')),
        temporal: () => Promise.resolve(),
      },
    });
    const response = await fetch(`${url}/readyz`);
    expect(response.status).toBe(503);
    const text = await response.text();
    expect(JSON.parse(text)).toEqual({
      ready: false,
      checks: { database: 'failed', temporal: 'ok' },
    });
    expect(text).not.toContain('ledger');
  });

  test('answers even if a check hangs, and joins the running check instead of starting another', async () => {
    let started = 0;
    let finishFirst: () => void = () => undefined;
    const first = new Promise<void>((resolve) => {
      finishFirst = resolve;
    });
    const { url } = await start({
      readiness: {
        database: () => {
          started += 1;
          return started === 1 ? first : Promise.resolve();
        },
      },
    });
    const answers = await Promise.all([fetch(`${url}/readyz`), fetch(`${url}/readyz`)]);
    for (const answer of answers) {
      expect(answer.status).toBe(503);
      expect(await answer.json()).toMatchObject({ checks: { database: 'no answer' } });
    }
    expect(started).toBe(1);
    finishFirst();
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect(started).toBe(2);
  });
});

describe('/metrics', () => {
  test('is a page for Prometheus', async () => {
    const { url } = await start({ metrics: () => Promise.resolve('daybook_pages 7\n') });
    const response = await fetch(`${url}/metrics`);
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(await response.text()).toBe('daybook_pages 7\n');
  });

  test('is a 500 that hides the reason if it cannot be produced', async () => {
    const { url } = await start({ metrics: () => Promise.reject(new Error('user "ledger" is unknown')) });
    const response = await fetch(`${url}/metrics`);
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain('ledger');
  });
});

describe('the port', () => {
  test('is an error with the remedy if it was configured and is taken', async () => {
    const port = await occupiedPort();
    await expect(start({ port })).rejects.toThrow(
      `Port ${port} of 127.0.0.1 is in use: stop what listens there, or set DAYBOOK_HTTP_PORT to another one.`,
    );
  });

  test.each([
    ['203.0.113.7', 'EADDRNOTAVAIL'],
    ['no-such-host.invalid', '(ENOTFOUND|EAI_AGAIN)'],
  ])('is an error with the remedy on an address of another machine (%s)', async (host, code) => {
    await expect(start({ host })).rejects.toThrow(
      new RegExp(
        `cannot listen on port 0 of ${host} \\(${code}\\): set DAYBOOK_HTTP_HOST to an address of this machine`,
      ),
    );
  });

  test('is the next free one if the default is taken', async () => {
    const port = await occupiedPort();
    const { url } = await start({ port, portIsDefault: true });
    expect(Number(new URL(url).port)).toBeGreaterThan(port);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });
});

describe('an unknown route', () => {
  test.each(['/nothing', '/healthz'])(
    'is answered before its body is read, whatever the body: %s',
    async (path) => {
      const told: string[] = [];
      const logger = pino({ level: 'warn' }, { write: (line: string) => void told.push(line) });
      const { url } = await start({ logger });
      const headers = { 'content-type': 'application/json' };
      const malformed = await fetch(`${url}${path}`, { method: 'POST', headers, body: '{bad' });
      expect(malformed.status).toBe(404);
      const asking = request(`${url}${path}`, {
        method: 'POST',
        headers: { ...headers, 'content-length': '1000000' },
      });
      onTestFinished(() => {
        asking.destroy();
      });
      asking.flushHeaders();
      const [answer] = (await once(asking, 'response')) as [IncomingMessage];
      expect(answer.statusCode).toBe(404);
      expect(told).toEqual([]);
    },
  );
});
