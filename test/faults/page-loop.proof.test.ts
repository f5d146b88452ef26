import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { createInstallation } from '../support/installation.ts';

/** A proxy of the sandbox whose pages of bills link to one another. */
let upstream = '';
const service = createServer((asked, answer) => {
  const url = new URL(asked.url ?? '', upstream);
  const cursor = url.searchParams.get('cursor');
  const isLoop = url.pathname.endsWith('/accounting/bills');
  if (isLoop) url.searchParams.delete('cursor');
  void fetch(url, { headers: { authorization: asked.headers.authorization ?? '' } }).then(
    async (response) => {
      const text = await response.text();
      const next = cursor === 'a' ? 'b' : cursor === 'b' ? 'c' : 'a';
      answer.writeHead(response.status, { 'content-type': 'application/json' });
      answer.end(isLoop ? text.replace(/"next_cursor": *(null|"[^"]*")/, `"next_cursor":"${next}"`) : text);
    },
  );
}).listen(0, '127.0.0.1');
await once(service, 'listening');
afterAll(() => {
  service.close();
  service.closeAllConnections();
});
const address = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
const installation = await createInstallation({ env: { DAYBOOK_API_URL: address } });
upstream = installation.sandbox.url;

test('a sync of a list whose pages form a loop ends, reports the loop, and reads the other lists', async () => {
  await installation.admin.execute({
    kind: 'add-connection',
    name: 'acme',
    platform: 'QUICKBOOKS',
    records: 60,
    accessToken: 'token',
  });
  await installation.startWorker();
  const add = ['connection', 'add', 'acme', '--no-schedule', '--token-stdin'];
  expect(await installation.run(add, { input: 'token' })).toMatchObject({ code: 0 });
  const { code, stdout } = await installation.run(['sync', 'acme', '--json']);
  expect(code).toBe(3);
  const { streams } = JSON.parse(stdout) as {
    streams: { stream: string; failure: string | null; status: string }[];
  };
  expect(streams.find(({ stream }) => stream === 'bills')?.failure).toMatch(
    /pages of bills of acme form a loop/,
  );
  expect(streams.filter(({ stream, status }) => stream !== 'bills' && status === 'failed')).toEqual([]);
});
