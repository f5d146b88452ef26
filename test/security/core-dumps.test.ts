import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { builtProgram as daybook } from '../support/daybook-process.ts';
import { eventually } from '../support/eventually.ts';

const isLinux = process.platform === 'linux';
const landsInFolder = isLinux && readFileSync('/proc/sys/kernel/core_pattern', 'utf8').startsWith('core');
const secret = 'planted-secret-of-a-process';

test.skipIf(!landsInFolder)('a crashing process leaves no secret from its memory on the disk', async () => {
  const waiting = [
    '--eval',
    'setInterval(() => process.env.DAYBOOK_CLIENT_SECRET, 50); console.log("ready")',
  ];
  // An unprotected process shows that the secret would be found.
  expect((await captureCoreDump(waiting, /ready/)).includes(secret)).toBe(true);
  expect((await captureCoreDump([daybook, 'sandbox', '--port', '0'], /http/)).includes(secret)).toBe(false);
});

test.skipIf(!isLinux)(
  "a process's core dump filter, which its children inherit, excludes all memory",
  async () => {
    const child = start([daybook, 'sandbox', '--port', '0'], '.');
    await untilOutputMatches(child, /http/);
    expect((await readFile(`/proc/${child.pid ?? 0}/coredump_filter`, 'utf8')).trim()).toMatch(/^0+$/);
    child.kill();
  },
);

/** The core dump of a process that crashes once its output matches. Empty if there is none. */
async function captureCoreDump(args: readonly string[], ready: RegExp): Promise<Buffer> {
  const cwd = await mkdtemp(join(tmpdir(), 'daybook-core-'));
  onTestFinished(() => rm(cwd, { recursive: true, force: true }));
  const child = start(args, cwd);
  await untilOutputMatches(child, ready);
  child.kill('SIGSEGV');
  await once(child, 'exit');
  const [core] = (await readdir(cwd)).filter((name) => name.startsWith('core'));
  return core === undefined ? Buffer.alloc(0) : readFile(join(cwd, core));
}

function start(args: readonly string[], cwd: string): ReturnType<typeof spawn> {
  return spawn('sh', ['-c', 'ulimit -c unlimited; exec "$0" "$@"', process.execPath, ...args], {
    cwd,
    env: { PATH: process.env.PATH, DAYBOOK_CLIENT_SECRET: secret, DAYBOOK_CLIENT_ID: 'client' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function untilOutputMatches(child: ReturnType<typeof spawn>, ready: RegExp): Promise<void> {
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => (said += String(text)));
  await eventually(() => Promise.resolve(ready.test(said) || undefined));
}
