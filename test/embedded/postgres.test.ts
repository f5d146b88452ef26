import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { chown, readFile, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { explain } from '../../cli/explain.ts';
import { freePort } from '../../embedded/free-port.ts';
import { startPostgres, type PostgresServer } from '../../embedded/postgres.ts';
import { eventually } from '../support/eventually.ts';
import { startEmbeddedProcess } from './embedded-process.ts';
import { query } from './query.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { proofTest } from '../support/proof-test.ts';

test('data and password survive a stop and a start', async () => {
  const folder = await temporaryFolder();
  const first = await postgresIn(folder);
  await query(first.url, 'create table kept as select 0.10::numeric as amount');
  await first.stop();
  expect(await first.exited).toBe('exit code 0');

  const second = await postgresIn(folder);
  expect(await query(second.url, 'select amount from kept')).toEqual([{ amount: '0.10' }]);
  expect(passwordOf(second)).toBe(passwordOf(first));
});

test('the database owner is not a superuser, and the database uses UTF-8 and UTC', async () => {
  const server = await postgresIn(await temporaryFolder());
  expect(
    await query(
      server.url,
      `select current_user as name, rolsuper, rolcreaterole, pg_get_userbyid(datdba) as owner,
              pg_encoding_to_char(encoding) as encoding, current_setting('timezone') as timezone
       from pg_roles, pg_database where rolname = current_user and datname = current_database()`,
    ),
  ).toEqual([
    {
      name: 'daybook',
      rolsuper: false,
      rolcreaterole: true,
      owner: 'daybook',
      encoding: 'UTF8',
      timezone: 'UTC',
    },
  ]);
});

test('a commit is durable: fsync, synchronous_commit and full_page_writes are on', async () => {
  const server = await postgresIn(await temporaryFolder());
  const rows = await query(
    server.url,
    `select name, setting from pg_settings where name in ('fsync', 'synchronous_commit', 'full_page_writes')`,
  );
  expect(rows.map((row) => row.setting)).toEqual(['on', 'on', 'on']);
});

test("a session's temporary files are limited to about a quarter of the free disk, and the owner cannot raise that", async () => {
  const folder = await temporaryFolder();
  const { bavail, bsize } = await statfs(folder);
  const server = await postgresIn(folder);
  const [row] = await query(
    server.url,
    `select setting::float8 * 1024 as limit from pg_settings where name = 'temp_file_limit'`,
  );
  const free = bavail * bsize;
  expect(row?.limit).toBeGreaterThan(free / 5);
  expect(row?.limit).toBeLessThan(Math.max(free / 3, 2 * 1024 ** 3));
  await expect(query(server.url, 'set temp_file_limit = -1')).rejects.toThrow(/permission denied/);
});

test('the password is in a file that only its owner can read, and a wrong password is refused', async () => {
  const folder = await temporaryFolder();
  const server = await postgresIn(folder);
  const passwordFile = join(folder, 'postgres.password');
  expect((await stat(passwordFile)).mode & 0o777).toBe(0o600);
  expect((await readFile(passwordFile, 'utf8')).trim()).toBe(passwordOf(server));
  await expect(query(server.url.replace(passwordOf(server), 'wrong'), 'select')).rejects.toThrow(/password/);
});

test('connections that never log in block others only briefly, and the error says to try again', async () => {
  const server = await postgresIn(await temporaryFolder(), { max_connections: '5', max_wal_senders: '0' });
  const idle = Array.from({ length: 60 }, () =>
    connect(server.port, '127.0.0.1').on('error', () => undefined),
  );
  onTestFinished(() => {
    for (const socket of idle) socket.destroy();
  });
  await Promise.all(idle.map((socket) => once(socket, 'connect')));
  const refused = await eventually(() =>
    query(server.url, 'select').then(
      () => undefined,
      (error: unknown) => error,
    ),
  );
  expect(explain(refused, { verbose: false })).toMatch(/^Postgres has no connection left: .*try again/);
  expect(await eventually(() => query(server.url, 'select 1 as one'), 20)).toEqual([{ one: 1 }]);
});

test.skipIf(process.getuid?.() !== 0)(
  "another user's process named like Daybook's Postgres is not taken for an orphan",
  async () => {
    const folder = await temporaryFolder();
    await chown(folder, 54_321, 54_321);
    const dataDir = join(folder, 'postgres');
    const named = `process.title = 'postgres -D ${dataDir} x'; console.log('named'); setInterval(() => undefined, 1000);`;
    const theirs = spawn(process.execPath, ['--eval', named], { uid: 54_322 });
    onTestFinished(() => void theirs.kill());
    await once(theirs.stdout, 'data');
    const url = new URL('../../embedded/postgres.ts', import.meta.url).href;
    const start = `process.setuid(54321); const { stopOrphanedPostgres } = await import('${url}');
      await stopOrphanedPostgres('${dataDir}').then(() => console.log('none'), (error) => console.log(error.message));`;
    const args = ['--import', 'tsx', '--input-type=module', '--eval', start];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    expect(stdout.trim()).toBe('none');
    expect(theirs.exitCode).toBeNull();
  },
);

proofTest('a start waits for a free connection while others take them all', async () => {
  const port = await freePort();
  const sockets = new Set<Socket>();
  let isOver = false;
  const take = (): void => {
    if (isOver) return;
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    sockets.add(socket);
    socket.once('close', () => {
      sockets.delete(socket);
      setTimeout(take, 20);
    });
  };
  for (let count = 0; count < 30; count += 1) take();
  const giveUp = (): void => {
    isOver = true;
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(giveUp);
  const server = await postgresIn(
    await temporaryFolder(),
    { max_connections: '5', max_wal_senders: '0' },
    port,
  );
  giveUp();
  expect(await eventually(() => query(server.url, 'select 1 as one'))).toEqual([{ one: 1 }]);
});

test('a Postgres that does not start reports the end of its log', async () => {
  const folder = await temporaryFolder();
  const start = startPostgres({
    dataDir: join(folder, 'postgres'),
    port: await freePort(),
    settings: { shared_buffers: 'plenty' },
  });
  await expect(start).rejects.toThrow(
    /Postgres did not start: it ended with exit code 1[^]*shared_buffers[^]*plenty/,
  );
});

proofTest(
  'Postgres moves to a free port if the usual one is taken, and stays there on the next start',
  async () => {
    const home = await temporaryFolder();
    const stranger = createServer().listen(54329, '127.0.0.1');
    // If another process, such as another Daybook, has the port already, that serves as well.
    await new Promise((resolve) => stranger.once('listening', resolve).once('error', resolve));
    const first = await startEmbeddedProcess(home, 'postgres');
    const url = first.servers.postgres?.url;
    expect(url).not.toContain(':54329/');
    await first.end('SIGTERM');
    stranger.close();

    const second = await startEmbeddedProcess(home, 'postgres');
    expect(second.servers.postgres?.url).toBe(url);
  },
);

async function postgresIn(
  folder: string,
  settings: Record<string, string> = {},
  port?: number,
): Promise<PostgresServer> {
  const server = await startPostgres({
    dataDir: join(folder, 'postgres'),
    port: port ?? (await freePort()),
    settings,
  });
  onTestFinished(() => server.stop());
  return server;
}

function passwordOf(server: PostgresServer): string {
  return new URL(server.url).password;
}
