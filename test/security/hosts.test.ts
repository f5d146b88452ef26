import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { pino } from 'pino';
import { afterAll, describe, expect, test } from 'vitest';
import { startSandbox } from '../../sandbox/start-sandbox.ts';
import { startHttpServer } from '../../server/start-http-server.ts';

const sandbox = await startSandbox({ records: 100, webhookHosts: ['192.0.2.7'] });
afterAll(() => sandbox.close());

describe.each(['/healthz', '/readyz', '/metrics'])('%s', (path) => {
  test.each([
    ['127.0.0.1', 'evil.example', 403],
    ['127.0.0.1', '127.0.0.1.evil.example:8390', 403],
    ['127.0.0.1', 'localhost', 200],
    ['127.0.0.1', '127.0.0.1:8390', 200],
    ['0.0.0.0', 'evil.example', 200],
    ['0.0.0.0', '10.0.0.7:8390', 200],
  ])('of a server on %s, requested with the Host header %s, answers %d', async (host, name, status) => {
    const url = await start(host);
    expect((await ask('GET', url + path, { host: name })).status).toBe(status);
  });
});

describe("the sandbox's admin port", () => {
  test.each(['GET /connections', 'GET /webhooks', 'POST /commands', 'DELETE /faults', 'GET /nothing'])(
    'refuses a request under a foreign host name that resolves to it: %s',
    async (route) => {
      const [method = '', path = ''] = route.split(' ');
      const answer = await ask(method, sandbox.adminUrl + path, { host: 'evil.example' });
      expect(answer).toMatchObject({ status: 403 });
      expect(answer.text).not.toContain('sandbox-token');
    },
  );

  test.each([
    'http://192.0.2.1/',
    'http://internal.example/admin',
    'http://169.254.169.254/latest/meta-data',
    'http://127.0.0.1.evil.example/',
    'http://localhost@192.0.2.1/',
    'http://[::ffff:192.0.2.1]/',
    'http://0/',
  ])('refuses to send webhooks to %s', async (address) => {
    for (const [method, path, body] of [
      ['PUT', '/webhooks', { addresses: [address] }],
      ['POST', '/webhooks/send', { body: '{}', address }],
    ] as const) {
      const { status, text } = await ask(method, sandbox.adminUrl + path, {}, JSON.stringify(body));
      expect(status, path).toBe(400);
      expect(text).toContain('Webhooks go to this machine only');
    }
  });

  test.each([
    'http://localhost:9/',
    'http://127.0.0.1:9/',
    'http://[::1]:9/',
    'http://0x7f.1:9/',
    'http://192.0.2.7:9/',
  ])('accepts %s for webhooks: loopback, or a host that the sandbox was started with', async (address) => {
    const body = JSON.stringify({ addresses: [address] });
    expect((await ask('PUT', `${sandbox.adminUrl}/webhooks`, {}, body)).status).toBe(200);
  });
});

async function start(host: string): Promise<string> {
  const server = await startHttpServer({
    host,
    port: 0,
    portIsDefault: false,
    readiness: {},
    logger: pino({ level: 'silent' }),
    metrics: () => Promise.resolve(''),
  });
  afterAll(() => server.close());
  return server.url;
}

/** Sends a request without fetch, which sets `Host` itself. */
async function ask(
  method: string,
  url: string,
  headers: Record<string, string>,
  body = '',
): Promise<{ status: number; text: string }> {
  const type = body === '' ? {} : { 'content-type': 'application/json' };
  const sent = request(url, { method, headers: { ...type, ...headers } });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  let text = '';
  for await (const part of response) text += String(part);
  return { status: response.statusCode ?? 0, text };
}
