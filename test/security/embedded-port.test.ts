import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../embedded/free-port.ts';
import { openHome } from '../../embedded/home.ts';
import { preferredPorts } from '../../embedded/ports.ts';
import { startPostgres } from '../../embedded/postgres.ts';
import { prepareDatabase } from '../../embedded/prepare-database.ts';
import { writeRuntimeFile } from '../../embedded/runtime-file.ts';
import { migrate } from '../../warehouse/schema/migrate.ts';
import { openSession } from '../../warehouse/session/open-session.ts';
import { openWarehouse } from '../../warehouse/open-warehouse.ts';
import { opens } from '../../warehouse/session/opens.ts';
import { requiringScram } from '../../warehouse/session/require-auth.ts';
import { startEmbeddedProcess } from '../embedded/embedded-process.ts';
import { query } from '../embedded/query.ts';
import { temporaryFolder, temporaryHome } from '../embedded/temporary-folder.ts';
import { runDaybook, type Ended } from '../support/daybook-process.ts';
import { eventually } from '../support/eventually.ts';
import { proofTest } from '../support/proof-test.ts';
import { testKey } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { startFakePostgres, type AuthRequest } from './fake-postgres.ts';

/** Another user of the machine, who takes the port of the embedded Postgres before it starts, or while it is down. */

const password = 'the-password-of-somebody';
const hasPsql = spawnSync('psql', ['--version']).status === 0;

const authRequests: readonly [AuthRequest, RegExp][] = [
  ['clear text', /it asks for the password in clear text/],
  ['md5', /it asks for an MD5 hash of the password/],
  ['Kerberos', /it asks for a login of a kind that Daybook does not know/],
  ['two gigabytes', /or says what Postgres never says/],
  ['two gigabytes in a message cut up', /or says what Postgres never says/],
  ['nothing', /it asks for no proof that the password is known, and gives none/],
  ['scram without its end', /its part of the login by SCRAM is not that of a server that knows the password/],
  [
    'scram with a wrong signature',
    /its part of the login by SCRAM is not that of a server that knows the password/,
  ],
];

test.each(authRequests)(
  'a fake server that asks for %s receives no password and no statement, and the error says why',
  async (authRequest, why) => {
    const server = await startFakePostgres(authRequest);
    const url = `postgres://daybook:${password}@127.0.0.1:${server.port}/daybook`;
    const warehouse = openWarehouse({ url: requiringScram(url), connections: 1 });
    onTestFinished(() => warehouse.close());
    const statement = 'select 1 as told_to_a_stranger';
    for (const attempt of [
      async () => (await openSession(requiringScram(url), { application: 'test' })).query(statement),
      () => warehouse.pool.query(statement),
      // The pool returns a session through a callback, which a driver that first fails and is then ready calls twice.
      () =>
        new Promise((resolve, reject) => {
          warehouse.pool.query(statement, (error: Error | undefined, result) => {
            if (error === undefined) resolve(result);
            else reject(error);
          });
        }),
      () => opens(new URL(requiringScram(url))),
      () => prepareDatabase(url, 'the-password-of-the-owner'),
    ]) {
      const failure: unknown = await attempt().then(
        () => 'it was let in',
        (error: unknown) => error,
      );
      expect(String(failure)).toMatch(why);
      expect(String(failure)).toMatch(
        `What listens on 127.0.0.1:${server.port} does not prove that it is your Postgres`,
      );
    }
    expect(server.received()).toContain('daybook');
    for (const secret of [
      password,
      'the-password-of-the-owner',
      hashPassword(password),
      'told_to_a_stranger',
    ])
      expect(server.received()).not.toContain(secret);
  },
);

test('an address that does not require SCRAM still sends the password in clear text if asked, as managed Postgres may', async () => {
  const server = await startFakePostgres('clear text');
  expect(await opens(new URL(`postgres://daybook:${password}@127.0.0.1:${server.port}/daybook`))).toBe(true);
  expect(server.received()).toContain(password);
});

test("a require_auth in a user's own address is honored", async () => {
  const server = await startFakePostgres('clear text');
  const url = `postgres://daybook:${password}@127.0.0.1:${server.port}/daybook?require_auth=`;
  await expect(opens(new URL(`${url}scram-sha-256,md5`))).rejects.toThrow(/in clear text/);
  await expect(opens(new URL(`${url}!password`))).rejects.toThrow(/in clear text/);
  expect(server.received()).not.toContain(password);
  expect(await opens(new URL(`${url}password`))).toBe(true);
});

test('Postgres does not start if its port is taken, says why, and sends nothing to the program on that port', async () => {
  const stranger = await startFakePostgres('clear text');
  const dataDir = join(await temporaryFolder(), 'postgres');
  await expect(startPostgres({ dataDir, port: stranger.port })).rejects.toThrow(
    /Postgres did not start: it ended with exit code 1[^]*Address already in use/,
  );
  expect(stranger.received()).toBe('');
});

proofTest('a start moves Postgres off a taken port and sends nothing to the program on it', async () => {
  const home = await temporaryHome();
  const { postgres } = await preferredPorts(await openHome(home));
  const stranger = await startFakePostgres('clear text', postgres);
  const { servers } = await startEmbeddedProcess(home, 'postgres');
  const url = servers.postgres?.url ?? '';
  expect(Number(new URL(url).port)).not.toBe(stranger.port);
  const session = await openSession(requiringScram(url), { application: 'test' });
  await session.end();
  expect(stranger.received()).toBe('');
});

proofTest(
  'a program on the old port of Postgres that forwards logins to the new port gets no session of the owner',
  async () => {
    const home = await temporaryHome();
    const before = await startEmbeddedProcess(home, 'postgres');
    const old = new URL(before.servers.postgres?.url ?? '');
    await query(old.href, 'create table kept as select 1 as n');
    await before.end('SIGTERM');
    let target = 0;
    const stranger = createServer((socket) => {
      const onward = connect(target, '127.0.0.1');
      socket.pipe(onward).pipe(socket);
      for (const side of [socket, onward]) side.on('error', () => undefined);
    }).listen(Number(old.port), '127.0.0.1');
    onTestFinished(() => {
      stranger.close();
    });
    await once(stranger, 'listening');

    const after = await startEmbeddedProcess(home, 'postgres');
    const now = new URL(after.servers.postgres?.url ?? '');
    target = Number(now.port);
    expect(await query(now.href, 'select n from kept')).toEqual([{ n: 1 }]);
    await expect(openSession(requiringScram(old.href), { application: 'test' })).rejects.toThrow(
      /password authentication failed/,
    );
    expect((await readFile(join(home, 'postgres.password'), 'utf8')).trim()).toBe(now.password);

    // Clients with the new address keep it for as long as this Daybook runs.
    await killPostgres(home);
    await eventually(() => Promise.resolve(after.steps.at(-1)?.state === 'restarted' || undefined));
    expect(await query(now.href, 'select n from kept')).toEqual([{ n: 1 }]);
  },
);

proofTest(
  'a killed Postgres whose port is taken waits for the port, says so, and sends nothing to the program on it',
  async () => {
    const home = await temporaryHome();
    const up = await startEmbeddedProcess(home, 'postgres');
    const url = requiringScram(up.servers.postgres?.url ?? '');
    await killPostgres(home);
    const stranger = await startFakePostgres('clear text', Number(new URL(url).port));
    await eventually(() => {
      expect(up.steps.find(({ state }) => state === 'restart-failed')?.detail).toMatch(
        new RegExp(
          `^another program took port ${stranger.port} of 127\\.0\\.0\\.1 while Postgres was down: .* end it`,
        ),
      );
      return Promise.resolve(true);
    });
    expect(stranger.received()).toBe('');
    await expect(openSession(url, { application: 'test' })).rejects.toThrow(/in clear text/);
    expect(stranger.received()).not.toContain(decodeURIComponent(new URL(url).password));
    await stranger.close();
    await eventually(() => Promise.resolve(up.steps.at(-1)?.state === 'restarted' || undefined));
    expect(await query(up.servers.postgres?.url, 'select 1 as n')).toEqual([{ n: 1 }]);
  },
  60_000,
);

test("statements that Postgres could log contain neither the owner's nor the superuser's password", async () => {
  const dataDir = join(await temporaryFolder(), 'postgres');
  const server = await startPostgres({ dataDir, port: await freePort(), settings: { log_statement: 'all' } });
  onTestFinished(() => server.stop());
  const log = await readFile(`${dataDir}.log`, 'utf8');
  expect(log).toContain('create role daybook');
  for (const url of [server.url, server.adminUrl]) expect(log).not.toContain(new URL(url).password);
});

test('a command that uses the embedded Postgres sends no password to another program on its port', async () => {
  const stranger = await startFakePostgres('clear text');
  const url = `postgres://daybook:${password}@127.0.0.1:${stranger.port}/daybook`;
  const { code, stderr } = await runInHome(url, ['sql', 'select 1']);
  expect(stderr).toMatch(
    /^What listens on 127\.0\.0\.1:\d+ does not prove that it is your Postgres: .* end it, and try again\.\n$/,
  );
  expect(code).toBe(1);
  expect(stranger.received()).not.toContain(password);
});

test('psql on the embedded Postgres holds no password and ignores PG* variables that redirect it; url prints no new options', async () => {
  const { url } = await createTestDatabase();
  const { stdout } = await runInHome(url, ['url']);
  expect(stdout).toMatch(/^postgres:\/\/daybook_bi_\w+:[\w-]+@127\.0\.0\.1:\d+\/\w+\n$/);
  const programs = await temporaryFolder();
  await writeFile(join(programs, 'psql'), '#!/bin/sh\necho "$@"\nenv\n', { mode: 0o755 });
  const psql = await runInHome(url, ['psql'], {
    PATH: `${programs}:${process.env.PATH ?? ''}`,
    ...{ PGHOSTADDR: '127.0.0.1', PGREQUIREAUTH: 'scram-sha-256', PGOPTIONS: '-c work_mem=8MB' },
  });
  expect(psql.stdout).toMatch(
    /^--dbname postgres:\/\/daybook_bi_\w+@\/\w+\?host=%2F\S*daybook-psql-\w+&port=5432\n/,
  );
  expect(psql.stdout).not.toContain(new URL(stdout).password);
  expect([...psql.stdout.matchAll(/^PG\w+(?==)/gm)].map(([name]) => name)).toEqual(['PGOPTIONS']);
});

test.skipIf(!hasPsql)(
  'an open psql on the embedded Postgres sends no password to a program that takes the port while Postgres is down',
  async () => {
    const folder = await temporaryFolder();
    const file = (name: string): string => join(folder, name);
    const port = await freePort();
    const postgres = await startPostgres({ dataDir: file('postgres'), port });
    await migrateDatabase(postgres.url);
    const { stdout: address } = await runInHome(postgres.url, ['url']);
    // A psql without a terminal reconnects only on request, with what it has kept from the first connection.
    const wait = `\\! touch ${file('begun')}; until [ -e ${file('taken')} ]; do sleep 0.05; done`;
    await writeFile(file('script.sql'), [`select 'first';`, wait, '\\c'].join('\n'));
    const ended = runInHome(postgres.url, ['psql', '--', '-XAt', '-f', file('script.sql')]);
    await eventually(() => Promise.resolve(existsSync(file('begun')) || undefined));
    await postgres.stop();
    const stranger = await startFakePostgres('clear text', port);
    await writeFile(file('taken'), '');
    const { stdout, stderr } = await ended;
    expect(stdout).toBe('first\n');
    expect(stranger.received()).toContain('daybook_bi_');
    expect(stranger.received()).not.toContain(new URL(address).password);
    expect(stderr).toContain(
      'does not prove that it is your Postgres: it asks for the password in clear text',
    );
  },
  60_000,
);

proofTest(
  'the login of "daybook url" gets a new password if Postgres moves, and the old password no longer works',
  async () => {
    const dataDir = join(await temporaryFolder(), 'postgres');
    const before = await startPostgres({ dataDir, port: await freePort() });
    await migrateDatabase(before.url);
    const printed = new URL((await runInHome(before.url, ['url'])).stdout);
    await before.stop();
    const after = await startPostgres({ dataDir, port: await freePort(), ownerPassword: 'new' });
    onTestFinished(() => after.stop());
    const old = new URL(requiringScram(printed.href));
    old.port = String(after.port);
    expect(await opens(old)).toBe(false);
    const now = new URL((await runInHome(after.url, ['url'])).stdout);
    expect(now.username).toBe(printed.username);
    expect(now.password).not.toBe(printed.password);
    expect(await opens(new URL(requiringScram(now.href)))).toBe(true);
    expect(await opens(old)).toBe(false);
  },
);

async function migrateDatabase(url: string): Promise<void> {
  const warehouse = openWarehouse({ url, connections: 1 });
  await migrate(warehouse);
  await warehouse.close();
}

async function killPostgres(home: string): Promise<void> {
  const pidFile = await readFile(join(home, 'postgres', 'postmaster.pid'), 'utf8');
  process.kill(Number.parseInt(pidFile, 10), 'SIGKILL');
}

/** Runs a command beside a `daybook up` that started the Postgres of this address. */
async function runInHome(
  url: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const home = await openHome(await temporaryFolder());
  await writeRuntimeFile(home, {
    startedAt: new Date().toISOString(),
    database: { url, isEmbedded: true },
    temporal: { address: '127.0.0.1:1' },
  });
  const settings = { DAYBOOK_HOME: home.root, DAYBOOK_SECRET_KEY: testKey.toString('base64') };
  return runDaybook(args, { cwd: home.root, env: { ...settings, ...env } });
}

function hashPassword(text: string): string {
  const hash = (part: string | Buffer): string => createHash('md5').update(part).digest('hex');
  return hash(Buffer.from(`${hash(`${text}daybook`)}salt`));
}
