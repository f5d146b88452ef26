import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { freePort } from '../../embedded/free-port.ts';
import { postgresAccount } from '../../embedded/postgres-account.ts';
import { postgresProgram } from '../../embedded/postgres-program.ts';
import { startPostgres, type PostgresServer } from '../../embedded/postgres.ts';
import { eventually } from '../support/eventually.ts';

/** A primary, and a standby that streams from it, behind an address that leads to one of them, as in managed services. */
export interface ReplicatedPostgres {
  /** The address of the database, wherever it is. */
  readonly url: string;
  readonly startStandby: () => Promise<void>;
  /** Kills the primary, and promotes the standby. */
  readonly failOver: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

export async function startReplicatedPostgres(): Promise<ReplicatedPostgres> {
  const folder = await mkdtemp(join(tmpdir(), 'daybook-test-standby-'));
  const [primaryFiles, standbyFiles] = [join(folder, 'primary'), join(folder, 'standby')];
  let primary = await startPostgres({ dataDir: primaryFiles, port: await freePort() });
  const address = await addressOf(primary);
  let standby: Standby | undefined;
  return {
    url: address.url,
    async startStandby() {
      await primary.stop();
      await promisify(execFile)('cp', ['-a', primaryFiles, standbyFiles]);
      primary = await startPostgres({ dataDir: primaryFiles, port: primary.port });
      standby = await follow(primary, standbyFiles);
    },
    async failOver() {
      if (standby === undefined) throw new Error('There is no standby.');
      process.kill(await postmasterOf(primaryFiles), 'SIGKILL');
      await primary.exited;
      await query(standby.url, 'select pg_promote(true, 60)');
      address.leadTo(standby.port);
    },
    async stop() {
      address.close();
      standby?.process.kill('SIGQUIT');
      if (standby?.process.exitCode === null) await once(standby.process, 'exit');
      await primary.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

interface Standby {
  /** Connects as superuser. */
  readonly url: string;
  readonly port: number;
  readonly process: ChildProcess;
}

/** Starts a standby on a copy of the primary's files. */
async function follow(primary: PostgresServer, standbyFiles: string): Promise<Standby> {
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
  const standby = spawn(command, args, { cwd: standbyFiles, stdio: 'ignore' });
  const url = new URL(primary.adminUrl);
  url.port = String(own);
  await eventually(() => query(url.href, 'select'));
  await eventually(async () => {
    const { rows } = await query(primary.adminUrl, 'select from pg_stat_replication');
    return rows.length > 0 ? true : undefined;
  });
  return { url: url.href, port: own, process: standby };
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
  /** Leads to another port, and ends connections to the previous one. */
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
