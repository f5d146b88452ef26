import { expect, test } from 'vitest';
import { startEmbeddedProcess } from './embedded-process.ts';
import { eventually } from '../support/eventually.ts';
import { temporaryHome } from './temporary-folder.ts';

test('the sandbox reports its connections, and keeps its address on the next start', async () => {
  const home = await temporaryHome();
  const first = await startEmbeddedProcess(home, 'sandbox');
  expect(first.servers.sandbox?.connections.map(({ name }) => name)).toContain('acme-us');
  await first.end('SIGTERM');
  const second = await startEmbeddedProcess(home, 'sandbox');
  expect(second.servers.sandbox?.url).toBe(first.servers.sandbox?.url);
});

test('the sandbox ends with the process that started it, even if that process is killed', async () => {
  const up = await startEmbeddedProcess(await temporaryHome(), 'sandbox');
  const url = up.servers.sandbox?.url ?? '';
  expect((await fetch(url)).status).toBeGreaterThan(0);
  await up.end('SIGKILL');
  await eventually(() =>
    fetch(url).then(
      () => undefined,
      () => 'gone',
    ),
  );
});
