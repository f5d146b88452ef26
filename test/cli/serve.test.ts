import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { startDaybook } from '../support/daybook-process.ts';
import { createInstallation } from '../support/installation.ts';
import { proofTest } from '../support/proof-test.ts';

const installation = await createInstallation();
const { cwd, env } = installation;

test('serve answers probes and scrapes, and exits with 0 on SIGTERM', async () => {
  const serving = startDaybook(['serve'], { cwd, env });
  await serving.waitForOutput(/Serving at http\S+\./);
  const [url = ''] = /http\S+(?=\. Stop)/.exec(serving.output()) ?? [];
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  expect(await (await fetch(`${url}/metrics`)).text()).toContain('process_cpu_seconds_total');
  expect((await serving.stop('SIGTERM')).code).toBe(0);
});

test("serve with a key other than the warehouse's exits with 2", async () => {
  await installation.run(['connection', 'add', 'keyed', '--no-schedule', '--token-stdin'], {
    input: 'token',
  });
  const other = { DAYBOOK_SECRET_KEY: Buffer.alloc(32, 8).toString('base64') };
  const serving = startDaybook(['serve'], { cwd, env: { ...env, ...other } });
  await Promise.race([serving.ended, serving.waitForOutput(/Serving at/)]);
  const { code, stderr } = await serving.stop('SIGTERM');
  expect(stderr).toContain('DAYBOOK_SECRET_KEY is not the key');
  expect(code).toBe(2);
});

test.each(['worker', 'serve'])('%s without the address of the API exits with 2', async (command) => {
  const { code, stderr } = await installation.run([command], { env: { DAYBOOK_API_URL: '' } });
  expect(stderr).toContain('set DAYBOOK_API_URL');
  expect(code).toBe(2);
});

test.each(['worker', 'serve'])('%s reports a taken port in one sentence', async (command) => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const port = String((taken.address() as AddressInfo).port);
  const { code, stderr } = await installation.run([command], { env: { DAYBOOK_HTTP_PORT: port } });
  taken.close();
  expect(code).toBe(1);
  expect(stderr).toContain(`Port ${port} of 127.0.0.1 is in use`);
});

proofTest('a worker that cannot reach Temporal says so and exits with 1', async () => {
  const { code, stderr } = await installation.run(['worker'], { env: { TEMPORAL_ADDRESS: '127.0.0.1:9' } });
  expect(code).toBe(1);
  expect(stderr).toContain('Temporal does not answer at 127.0.0.1:9');
});
