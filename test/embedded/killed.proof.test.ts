import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { expect, onTestFinished, test } from 'vitest';
import { processIdentity } from '../../embedded/process-identity.ts';
import { processTable } from '../../embedded/process-table.ts';
import { startEmbeddedProcess, type EmbeddedProcess } from './embedded-process.ts';
import { eventually } from '../support/eventually.ts';
import { query } from './query.ts';
import { temporaryHome } from './temporary-folder.ts';

test('a killed Postgres comes back at the same address with the same data', async () => {
  const home = await temporaryHome();
  const up = await startEmbeddedProcess(home, 'postgres');
  const url = up.servers.postgres?.url;
  await query(url, 'create table kept as select 1 as n');

  process.kill(await postmasterPid(home), 'SIGKILL');

  await eventually(() => Promise.resolve(up.steps.find((step) => step.state === 'restarted')));
  expect(await query(url, 'select n from kept')).toEqual([{ n: 1 }]);
  expect(up.steps.map((step) => step.state)).toEqual(['starting', 'ready', 'died', 'restarted']);
});

test('a killed Temporal server comes back at the same address and knows its workflows', async () => {
  const home = await temporaryHome();
  const up = await startEmbeddedProcess(home, 'temporal');
  await withTemporal(up, (client) =>
    client.workflow.start('someday', { taskQueue: 'nobody', workflowId: 'sync/acme' }).then(() => 'started'),
  );

  process.kill(await pidOf(home, 'server start-dev'), 'SIGKILL');

  await eventually(() => Promise.resolve(up.steps.find((step) => step.state === 'restarted')));
  const status = await withTemporal(
    up,
    async (client) => (await client.workflow.getHandle('sync/acme').describe()).status,
  );
  expect(status.name).toBe('RUNNING');
});

test('a start after a kill -9 stops the servers left behind and continues with their data', async () => {
  const home = await temporaryHome();
  const killed = await startEmbeddedProcess(home, 'postgres', 'temporal');
  await query(killed.servers.postgres?.url, 'create table kept as select 1 as n');
  const orphans = [await postmasterPid(home), await pidOf(home, 'server start-dev')];
  await killed.end('SIGKILL');
  expect(await Promise.all(orphans.map(processIdentity))).not.toContain(undefined);

  const next = await startEmbeddedProcess(home, 'postgres', 'temporal');

  expect(await Promise.all(orphans.map(processIdentity))).toEqual([undefined, undefined]);
  expect(next.servers.postgres?.url).toBe(killed.servers.postgres?.url);
  expect(next.servers.temporal?.address).toBe(killed.servers.temporal?.address);
  expect(await query(next.servers.postgres?.url, 'select n from kept')).toEqual([{ n: 1 }]);
});

test('a process that only mentions the data folder is not taken for a server left behind', async () => {
  const home = await temporaryHome();
  await (await startEmbeddedProcess(home, 'postgres')).end('SIGTERM');
  const stranger = spawn(process.execPath, [
    '-e',
    'setInterval(() => {}, 1000)',
    'x/postgres',
    '-D',
    join(home, 'postgres'),
  ]);
  onTestFinished(() => void stranger.kill());

  await startEmbeddedProcess(home, 'postgres');

  expect(stranger.exitCode ?? stranger.signalCode).toBeNull();
});

test('a stale postmaster.pid whose PID now belongs to another program does not prevent the start', async () => {
  const home = await temporaryHome();
  const killed = await startEmbeddedProcess(home, 'postgres');
  const pidFile = join(home, 'postgres', 'postmaster.pid');
  const content = await readFile(pidFile, 'utf8');
  await killed.end('SIGTERM');
  await writeFile(pidFile, content.replace(/^\d+/, String(process.pid)));

  const next = await startEmbeddedProcess(home, 'postgres');

  expect(await query(next.servers.postgres?.url, 'select 1 as n')).toEqual([{ n: 1 }]);
});

async function postmasterPid(home: string): Promise<number> {
  return Number.parseInt(await readFile(join(home, 'postgres', 'postmaster.pid'), 'utf8'), 10);
}

async function pidOf(home: string, words: string): Promise<number> {
  const entry = (await processTable()).find((one) =>
    one.commandLine.includes(`${words} --db-filename ${home}`),
  );
  if (entry === undefined) throw new Error(`No process runs "${words}" on ${home}.`);
  return entry.pid;
}

async function withTemporal<T>(up: EmbeddedProcess, use: (client: Client) => Promise<T>): Promise<T> {
  const connection = await Connection.connect({ address: up.servers.temporal?.address ?? '' });
  try {
    return await use(new Client({ connection }));
  } finally {
    await connection.close();
  }
}
