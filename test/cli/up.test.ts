import { mkdtemp, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openHome } from '../../embedded/home.ts';
import { preferredPorts } from '../../embedded/ports.ts';
import { eventually } from '../support/eventually.ts';
import { run } from '../setup/run.ts';
import {
  builtProgram,
  runDaybook,
  startDaybook,
  type DaybookProcess,
  type Ended,
} from '../support/daybook-process.ts';
import { proofTest } from '../support/proof-test.ts';

/** A home for each test would cost ten seconds each, so each test continues with what the one before left. */
const home = await realpath(await mkdtemp(join(tmpdir(), 'daybook-up-')));
const options = { cwd: home, env: { DAYBOOK_HOME: home, DAYBOOK_HTTP_PORT: '0' } };
const daybook = (args: readonly string[], input?: string): Promise<Ended> =>
  runDaybook(args, input === undefined ? options : { ...options, input });
let up: DaybookProcess = await startUp();

afterAll(async () => {
  await up.stop('SIGTERM');
  await rm(home, { recursive: true, force: true });
});

test('up starts every server that is not configured, and commands find them', async () => {
  const added = await daybook(
    ['connection', 'add', 'acme-us', '--no-schedule', '--token-stdin'],
    'sandbox-token-acme-us',
  );
  expect(added).toMatchObject({ code: 0, stderr: '' });
  expect((await daybook(['sync', 'acme-us'])).code).toBe(0);
  expect((await daybook(['doctor'])).code).toBe(0);
  const { stdout } = await daybook(['status', '--json']);
  const { http, temporal } = JSON.parse(stdout) as { http: string; temporal: { ui: string } };
  expect((await fetch(`${http}/readyz`)).status).toBe(200);
  expect((await fetch(`${http}/metrics`)).status).toBe(200);
  expect((await fetch(temporal.ui)).status).toBe(200);
});

test('a second up on the same home is refused in one sentence', async () => {
  const { code, stderr } = await daybook(['up']);
  expect(code).not.toBe(0);
  expect(stderr.trim().split('\n')).toHaveLength(1);
  expect(stderr).toContain(home);
});

proofTest(
  'the key can be rotated under a running up, and an interrupted rotation is finished by the next one',
  async () => {
    const key = join(home, 'secret.key');
    const old = await readFile(key, 'utf8');
    const rotate = ['connection', 'rotate-key'];
    const rotated = await daybook(rotate);
    expect(rotated).toMatchObject({ code: 0, stderr: '' });
    expect(rotated.stdout).toContain('Re-encrypted 1 access token.');
    const now = await readFile(key, 'utf8');
    expect(now).not.toBe(old);
    expect((await stat(key)).mode & 0o777).toBe(0o600);
    expect((await daybook(['sync', 'acme-us'])).code).toBe(0);

    // The state after a kill between the commit and the rename.
    await writeFile(`${key}.next`, now);
    await writeFile(key, old);
    const refused = await daybook(['sync', 'acme-us']);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('run it again');
    expect((await daybook(rotate)).stdout).toContain('Re-encrypted 0 access tokens.');
    expect(await readFile(key, 'utf8')).toBe(now);
    expect((await daybook(['sync', 'acme-us'])).code).toBe(0);
  },
);

test('up after a kill continues with the same data', async () => {
  const before = await bills();
  await up.stop('SIGKILL');
  up = await startUp();
  expect(await bills()).toBe(before);
  expect((await daybook(['sync', 'acme-us'])).code).toBe(0);
  expect(await bills()).toBe(before);
});

test('Ctrl-C stops everything and leaves no process, and commands say how to start again', async () => {
  const { code } = await up.stop('SIGINT');
  expect(code).toBe(0);
  await eventually(async () => ((await processesOfHome()).length === 0 ? true : undefined));
  const { code: refused, stderr } = await daybook(['status']);
  expect(refused).toBe(1);
  expect(stderr).toContain('start it with "npx daybook up"');
});

proofTest(
  'the HTTP server gets the port of DAYBOOK_HTTP_PORT, although the sandbox had it before',
  async () => {
    const { sandbox } = await preferredPorts(await openHome(home));
    up = await startUp({ DAYBOOK_HTTP_PORT: String(sandbox) });
    expect(up.output()).toContain(`Daybook          http://127.0.0.1:${sandbox}\n`);
    expect((await daybook(['sync', 'acme-us'])).code).toBe(0);
    await up.stop('SIGTERM');
  },
);

proofTest('a closed terminal stops everything, too, although up can print nothing more', async () => {
  const pseudoTerminal = `
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0: os.execvp(sys.argv[1], sys.argv[1:])
said = b''
while b'Running. Stop with Ctrl-C' not in said: said += os.read(terminal, 4096)
os.close(terminal)
os.waitpid(pid, 0)`;
  const command = [process.execPath, builtProgram, 'up', '--records', '100'];
  // Its exit code means nothing: at its very end Node restores the terminal, and aborts if the terminal is gone.
  const { stderr } = await run(['python3', '-c', pseudoTerminal, ...command], {
    cwd: home,
    env: options.env,
  });
  expect(stderr).toBe('');
  expect(await processesOfHome()).toEqual([]);
  // Only a completed stop removes the file.
  await expect(stat(join(home, 'runtime.json'))).rejects.toThrow('ENOENT');
});

proofTest('the tour syncs two companies, shows queries, exits with 0 and leaves no process', async () => {
  const { code, stdout } = await daybook(['tour', '--once']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/Sync of acme-us succeeded/);
  expect(stdout).toMatch(/Sync of acme-eu succeeded/);
  expect(stdout.match(/npx daybook sql "/g)).toHaveLength(3);
  expect(await processesOfHome()).toEqual([]);
});

async function startUp(env: Record<string, string> = {}): Promise<DaybookProcess> {
  const started = startDaybook(['up', '--records', '100'], {
    ...options,
    env: { ...options.env, ...env },
  });
  await started.waitForOutput(/Running\. Stop with Ctrl-C/);
  return started;
}

async function bills(): Promise<string> {
  return (
    await daybook(['sql', 'select count(*), sum(amount_due), max(_changed_at) from finance.bills', '--csv'])
  ).stdout;
}

/** Processes with the home in their command line, as servers have it. */
async function processesOfHome(): Promise<string[]> {
  const { stdout } = await run(['ps', '-eo', 'pid,args']);
  return stdout.split('\n').filter((line) => line.includes(home));
}
