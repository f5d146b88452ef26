import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { expect, test } from 'vitest';
import type { Sandbox } from '../../sandbox/start-sandbox.ts';
import { testProgram } from '../support/daybook-process.ts';
import { createSandboxApi } from './sandbox-api.ts';

test.each(['SIGTERM', 'SIGINT'] as const)(
  'the sandbox process reports its address, serves, and exits with 0 on %s',
  async (signal) => {
    const { child, sandbox } = await start({ records: 100 });
    expect((await createSandboxApi(sandbox).get('/accounting/bills')).status).toBe(200);
    expect(sandbox.connections.map(({ name, ready }) => `${name} ${String(ready)}`)).toEqual([
      'acme-us true',
      'acme-eu true',
      'acme-uk true',
      'acme-subscriptions true',
      'acme-new false',
    ]);
    child.kill(signal);
    expect(await once(child, 'exit')).toEqual([0, null]);
  },
);

test('the sandbox process ends with its parent if configured to', async () => {
  const { child } = await start({ records: 100, exitWithParent: true });
  child.stdin.end();
  expect(await once(child, 'exit')).toEqual([0, null]);
});

test('a wrong option is an error that names it', async () => {
  const child = launch({ records: 5 });
  const output = await child.stderr.toArray();
  expect(Buffer.concat(output as Buffer[]).toString()).toContain('records');
  if (child.exitCode === null) await once(child, 'exit');
  expect(child.exitCode).toBe(1);
});

async function start(options: object): Promise<{ child: Child; sandbox: Sandbox }> {
  const child = launch(options);
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return { child, sandbox: JSON.parse(line) as Sandbox };
}

function launch(options: object): Child {
  return spawn(process.execPath, [...testProgram('sandbox/main.ts'), JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;
