import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { freePort } from '../../embedded/free-port.ts';
import { startPostgres, type PostgresServer } from '../../embedded/postgres.ts';
import { migrate } from '../../warehouse/schema/migrate.ts';
import { openWarehouse } from '../../warehouse/open-warehouse.ts';
import { startDaybook, type DaybookProcess } from '../support/daybook-process.ts';
import { createInstallation } from '../support/installation.ts';

// A copy of Postgres's files stands for both a physical standby and a cloned volume. Only later events distinguish the two.
const folder = await mkdtemp(join(tmpdir(), 'daybook-test-failover-'));
const servers: PostgresServer[] = [];
const processes: DaybookProcess[] = [];
const primary = await serve('primary');
const warehouse = openWarehouse({ url: primary.url, connections: 2 });
await migrate(warehouse);
const installation = await createInstallation({ database: { url: primary.url, warehouse } });
const company = await installation.connect();
afterAll(async () => {
  await Promise.all(processes.map((one) => one.stop('SIGKILL')));
  await warehouse.close();
  await Promise.all(servers.map((server) => server.stop()));
  await rm(folder, { recursive: true, force: true });
});

test('a standby that took over continues without intervention, and the old primary and a clone are refused', async () => {
  const before = worker(primary);
  await before.waitForOutput(/worker is ready/);
  await primary.stop();
  await copyFiles('primary', 'standby');
  await before.stop('SIGKILL');

  const standby = await serve('standby');
  const after = worker(standby);
  await after.waitForOutput(/worker is ready/);
  expect(await installation.run(['sync', company], { env: urlOf(standby) })).toMatchObject({ code: 0 });

  const returned = await serve('primary');
  const { code, stderr } = await worker(returned).ended;
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringMatching(/is another state of it/) as unknown,
  });
  expect(await installation.run(['sync', company], { env: urlOf(returned) })).toMatchObject({ code: 2 });

  // The standby's files are cloned while its worker stands still, so that both have the same token.
  process.kill(after.pid, 'SIGSTOP');
  await standby.stop();
  await copyFiles('standby', 'clone');
  const restarted = await serve('standby', standby.port);
  const clone = await serve('clone');
  const cloned = worker(clone);
  await cloned.waitForOutput(/checking for 25 s whether the owner is still running elsewhere/);
  process.kill(after.pid, 'SIGCONT');
  const refused = await cloned.ended;
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringMatching(/is a copy of it/) as unknown });
  expect(await installation.run(['sync', company], { env: urlOf(clone) })).toMatchObject({ code: 2 });
  expect(await installation.run(['sync', company], { env: urlOf(restarted) })).toMatchObject({ code: 0 });
  expect(after.output()).not.toContain('belongs to');
});

async function serve(name: string, port?: number): Promise<PostgresServer> {
  const server = await startPostgres({ dataDir: join(folder, name), port: port ?? (await freePort()) });
  servers.push(server);
  return server;
}

async function copyFiles(from: string, to: string): Promise<void> {
  for (const suffix of ['', '.password', '.superuser'])
    await promisify(execFile)('cp', ['-a', join(folder, `${from}${suffix}`), join(folder, `${to}${suffix}`)]);
}

function worker(server: PostgresServer): DaybookProcess {
  const env = { ...installation.env, ...urlOf(server) };
  const started = startDaybook(['worker'], { cwd: installation.cwd, env });
  processes.push(started);
  return started;
}

function urlOf({ url }: PostgresServer): { DATABASE_URL: string } {
  return { DATABASE_URL: url };
}
