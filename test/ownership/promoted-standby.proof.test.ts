import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { freePort } from '../../embedded/free-port.ts';
import { postgresAccount } from '../../embedded/postgres-account.ts';
import { postgresProgram } from '../../embedded/postgres-program.ts';
import { startPostgres, type PostgresServer } from '../../embedded/postgres.ts';
import { migrate } from '../../warehouse/migrate.ts';
import { openWarehouse } from '../../warehouse/open-warehouse.ts';
import { eventually, inTheEnd } from '../support/eventually.ts';
import { createInstallation } from '../support/installation.ts';
import { row } from '../support/rows.ts';

// A primary and a standby that streams from it, behind an address that leads to one of them, as managed services have it.
const folder = await mkdtemp(join(tmpdir(), 'daybook-test-standby-'));
const [primaryFiles, standbyFiles] = [join(folder, 'primary'), join(folder, 'standby')];
let primary = await startPostgres({ dataDir: primaryFiles, port: await freePort() });
const address = await addressOf(primary);
const warehouse = openWarehouse({ url: address.url, connections: 2 });
await migrate(warehouse);
const installation = await createInstallation({ database: { url: address.url, warehouse } });
let standby: ChildProcess | undefined;
afterAll(async () => {
  await warehouse.close();
  address.close();
  standby?.kill('SIGQUIT');
  if (standby?.exitCode === null) await once(standby, 'exit');
  await primary.stop();
  await rm(folder, { recursive: true, force: true });
});

test('a standby that is promoted in the middle of a sync costs time and nothing else', async () => {
  const company = await installation.connect({ records: 100 });
  await installation.startWorker();
  const standbyUrl = await startStandby();
  await installation.admin.configure({ maximumLimit: 5 });
  const match = { connection: company, path: '/accounting/bills' };
  await installation.admin.addFault({ match, fault: { kind: 'slow', ms: 500 } });
  const { client } = installation;
  const sync = await client.workflow.start('syncConnection', {
    workflowId: `sync/${company}`,
    taskQueue: 'daybook',
    args: [{ connection: company, reason: 'test' }],
  });
  await inTheEnd(async () => ((await pagesOf(company)) >= 3 ? true : undefined));

  process.kill(await postmasterOf(primaryFiles), 'SIGKILL');
  await primary.exited;
  await query(standbyUrl, 'select pg_promote(true, 60)');
  address.leadTo(Number(new URL(standbyUrl).port));
  await installation.admin.clearFaults();

  await sync.result();
  expect(await row(warehouse, 'select pg_is_in_recovery() as standby')).toEqual({ standby: false });
  expect((await installation.compare(company)).differences).toEqual([]);
  expect(await installation.run(['reconcile', company])).toMatchObject({ code: 0 });
});

async function pagesOf(company: string): Promise<number> {
  const { pages } = await row(
    warehouse,
    `select coalesce(sum(pages), 0)::int as pages from sync.run_streams where connection_id = '${company}' and stream = 'bills'`,
  );
  return Number(pages);
}

/** Of a copy of the primary's files, which then follows it. Returns the superuser's address. */
async function startStandby(): Promise<string> {
  await primary.stop();
  await promisify(execFile)('cp', ['-a', primaryFiles, standbyFiles]);
  primary = await startPostgres({ dataDir: primaryFiles, port: primary.port });
  const { port, username, password } = new URL(primary.adminUrl);
  const account = await postgresAccount();
  const signal = join(standbyFiles, 'standby.signal');
  await writeFile(signal, '');
  await account.own(signal);
  await appendFile(
    join(standbyFiles, 'postgresql.auto.conf'),
    `primary_conninfo = 'host=127.0.0.1 port=${port} user=${username} password=${password}'\n`,
  );
  const { postgres } = await postgresProgram(account);
  const own = await freePort();
  const settings = { port: String(own), listen_addresses: '127.0.0.1', unix_socket_directories: '' };
  const [command, ...args] = account.wrap([
    postgres,
    ...['-D', account.nameOf(standbyFiles)],
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ]);
  standby = spawn(command, args, { cwd: standbyFiles, stdio: 'ignore' });
  const url = new URL(primary.adminUrl);
  url.port = String(own);
  await eventually(() => query(url.href, 'select'));
  await eventually(async () => {
    const { rows } = await query(primary.adminUrl, 'select from pg_stat_replication');
    return rows.length > 0 ? true : undefined;
  });
  return url.href;
}

async function query(url: string, text: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url });
  try {
    await client.connect();
    return await client.query(text);
  } finally {
    await client.end();
  }
}

async function postmasterOf(files: string): Promise<number> {
  return Number.parseInt(await readFile(join(files, 'postmaster.pid'), 'utf8'), 10);
}

interface Address {
  readonly url: string;
  /** Ends what leads to where it led before. */
  readonly leadTo: (port: number) => void;
  readonly close: () => void;
}

async function addressOf({ url, port }: PostgresServer): Promise<Address> {
  let target = port;
  const open = new Set<Socket>();
  const cut = (): void => {
    for (const socket of open) socket.destroy();
  };
  const server = createServer((incoming) => {
    const outgoing = connect(target, '127.0.0.1');
    for (const [one, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      open.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        open.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const shared = new URL(url);
  shared.port = String((server.address() as AddressInfo).port);
  return {
    url: shared.href,
    leadTo(next) {
      target = next;
      cut();
    },
    close() {
      server.close();
      cut();
    },
  };
}
