import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from '../../embedded/free-port.ts';
import { postgresAccount } from '../../embedded/postgres-account.ts';
import { startServerProcess } from '../../embedded/server-process.ts';
import { eventually } from './eventually.ts';

export interface PgBouncer {
  /** The URL of the same database through the pooler. */
  readonly through: (url: string) => string;
  readonly stop: () => Promise<void>;
}

/** Starts a PgBouncer in front of a server, for all its databases and roles. `settings` override transaction mode with a pool of 20. */
export async function startPgBouncer(
  program: string,
  { adminUrl, settings = {} }: { adminUrl: string; settings?: Readonly<Record<string, string | number>> },
): Promise<PgBouncer> {
  const server = new URL(adminUrl);
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'daybook-pgbouncer-'));
  // PgBouncer refuses to run as root, as Postgres does.
  const account = await postgresAccount();
  const configuration = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'scram-sha-256',
    auth_file: 'users.txt',
    auth_user: server.username,
    auth_query: 'select usename, passwd from pg_shadow where usename = $1',
    pool_mode: 'transaction',
    max_client_conn: 2_000,
    default_pool_size: 20,
    ...settings,
  };
  const lines = Object.entries(configuration).map(([name, value]) => `${name} = ${value}`);
  const files = {
    'pgbouncer.ini': `[databases]\n* = host=${server.hostname} port=${server.port}\n[pgbouncer]\n${lines.join('\n')}\n`,
    'users.txt': `"${server.username}" "${decodeURIComponent(server.password)}"\n`,
  };
  await account.own(folder);
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(folder, name), text, { mode: 0o600 });
    await account.own(join(folder, name));
  }
  const [command, ...args] = account.wrap([program, 'pgbouncer.ini']);
  const running = await startServerProcess({
    name: 'PgBouncer',
    command,
    args,
    cwd: folder,
    logFile: `${folder}.log`,
    stopSteps: [
      { signal: 'SIGTERM', timeoutMs: 500 },
      { signal: 'SIGKILL', timeoutMs: 5_000 },
    ],
  });
  const through = (url: string): string => {
    const way = new URL(url);
    way.hostname = '127.0.0.1';
    way.port = String(port);
    return way.href;
  };
  await eventually(() => opens(through(adminUrl)));
  return {
    through,
    async stop() {
      await running.stop();
      await Promise.all([folder, `${folder}.log`].map((path) => rm(path, { recursive: true, force: true })));
    },
  };
}

async function opens(url: string): Promise<true> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } finally {
    await client.end();
  }
}
