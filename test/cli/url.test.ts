import { execFile } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loginParts } from '../../cli/login-parts.ts';
import { databaseAddress } from '../../warehouse/session/database-address.ts';
import { loginUrl } from '../../warehouse/readers/make-login.ts';
import { migrate } from '../../warehouse/schema/migrate.ts';
import { openWarehouse } from '../../warehouse/open-warehouse.ts';
import { expectOpens } from '../../warehouse/session/opens.ts';
import { builtProgram } from '../support/daybook-process.ts';
import { bill } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { row, rows } from '../support/rows.ts';
import { addTestConnection, testKey } from '../support/test-connection.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';

const [database, other] = await Promise.all([createTestDatabase(), createTestDatabase()]);
const { warehouse } = database;
const home = await mkdtemp(join(tmpdir(), 'daybook-url-'));
const key = testKey.toString('base64');

beforeAll(async () => {
  const connectionId = await addTestConnection(warehouse);
  await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('b')]] });
});

afterAll(async () => {
  const admin = new pg.Client(database.adminUrl);
  await admin.connect();
  for (const { url } of [database, other]) {
    const { rows: made } = await admin.query<{ rolname: string }>(
      `select rolname from pg_roles where rolname like 'daybook_bi_%' and has_database_privilege(rolname, $1, 'connect')`,
      [new URL(url).pathname.slice(1)],
    );
    for (const { rolname } of made)
      await admin.query(`drop owned by ${rolname}; drop role ${rolname}`).catch(() => undefined);
  }
  await admin.end();
});

test('url prints the complete URL of a login that can read what readers may, and cannot write', async () => {
  const url = await urlOf(database);
  expect(url.username).toMatch(/^daybook_bi_[0-9a-f]{8}$/);
  expect(url.username).not.toBe(new URL(database.url).username);
  const reader = new pg.Client(url.href);
  await reader.connect();
  const query = async (text: string): Promise<unknown[]> =>
    (await reader.query<Record<string, unknown>>(text)).rows;
  expect(await query('select id from finance.bills')).toEqual([{ id: 'b' }]);
  expect(await query(`select record_id from history.as_of('bills', now())`)).toEqual([{ record_id: 'b' }]);
  expect(await query('show timezone')).toEqual([{ TimeZone: 'UTC' }]);
  await expect(query('delete from finance.bills')).rejects.toThrow(/read-only transaction/);
  await query('set default_transaction_read_only = off');
  await expect(query('delete from finance.bills')).rejects.toThrow(/permission denied/);
  await expect(query('select * from sync.settings')).rejects.toThrow(/permission denied/);
  await expect(query('set role daybook')).rejects.toThrow(/permission denied/);
  await reader.end();
});

test('url prints the same URL each time, even when run concurrently, and a different one per warehouse', async () => {
  const [first, second, elsewhere] = await Promise.all([urlOf(other), urlOf(other), urlOf(database)]);
  expect(second.href).toBe(first.href);
  expect(elsewhere.username).not.toBe(first.username);
  expect(elsewhere.password).not.toBe(first.password);
});

test('the password is stored sealed, and survives a key rotation', async () => {
  const before = await urlOf(database);
  const everything = JSON.stringify(await rows(warehouse, 'select * from sync.settings'));
  expect(everything).toContain(before.username);
  expect(everything).not.toContain(before.password);
  const next = Buffer.alloc(32, 9).toString('base64');
  const rotated = await daybook(database, ['connection', 'rotate-key', '--new-key-env', 'NEXT'], {
    NEXT: next,
  });
  expect(rotated.code).toBe(0);
  const { stdout } = await daybook(database, ['url'], { DAYBOOK_SECRET_KEY: next });
  expect(stdout.trim()).toBe(before.href);
  await daybook(database, ['connection', 'rotate-key', '--new-key-env', 'NEXT'], {
    NEXT: key,
    DAYBOOK_SECRET_KEY: next,
  });
});

test('a login that was dropped or whose password was changed is restored', async () => {
  const url = await urlOf(database);
  await rows(warehouse, `alter role ${url.username} password 'changed'`);
  expect((await urlOf(database)).href).toBe(url.href);
  const admin = new pg.Client(database.adminUrl);
  await admin.connect();
  await admin.query(`drop owned by ${url.username}; drop role ${url.username}`);
  await admin.end();
  expect((await urlOf(database)).href).toBe(url.href);
  await logIn(url);
});

test('a login without the right to connect, as after a restore, regains it', async () => {
  const url = await urlOf(database);
  const { name } = await row(warehouse, 'select quote_ident(current_database()) as name');
  await rows(
    warehouse,
    `revoke connect on database ${String(name)} from public, daybook_reader, ${url.username}`,
  );
  await expect(logIn(url)).rejects.toThrow('permission denied for database');
  expect((await urlOf(database)).href).toBe(url.href);
  await logIn(url);
});

test('settings that a user made for the shared login are reset', async () => {
  const url = await urlOf(database);
  const user = new pg.Client(url.href);
  await user.connect();
  await user.query('set default_transaction_read_only = off');
  await user.query(`alter role ${url.username} set statement_timeout = '1ms'`);
  await user.query(
    `alter role ${url.username} in database ${url.pathname.slice(1)} set search_path = 'nowhere'`,
  );
  await user.end();
  const again = new pg.Client((await urlOf(database)).href);
  await again.connect();
  const seen: string[] = [];
  for (const name of ['statement_timeout', 'search_path', 'default_transaction_read_only', 'TimeZone']) {
    const { rows: shown } = await again.query<[string]>({ text: `show ${name}`, rowMode: 'array' });
    seen.push(String(shown[0]?.[0]));
  }
  await again.end();
  expect(seen).toEqual(['0', '"$user", public', 'on', 'UTC']);
});

test("a user's open change of the login makes url give up, and is named", async () => {
  const url = await urlOf(database);
  const user = new pg.Client({ connectionString: url.href, application_name: 'the <tool>' });
  await user.connect();
  await user.query('set default_transaction_read_only = off');
  await user.query(`alter role ${url.username} set statement_timeout = '1h'`);
  await user.query(`begin; alter role ${url.username} set statement_timeout = '2h'`);
  const { code, stdout, stderr } = await daybook(database, ['url']);
  expect(stderr).toMatch(
    new RegExp(
      `^Making the login ${url.username} could not go on: ${url.username} \\(session \\d+, the \\?tool\\?\\) in a transaction that does not end\\. End that session`,
    ),
  );
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  await user.end();
  expect((await urlOf(database)).href).toBe(url.href);
});

test('url --json has every part that a form asks for', async () => {
  const { stdout } = await daybook(database, ['url', '--json']);
  const { hostname, port, pathname, username, password, href } = await urlOf(database);
  expect(JSON.parse(stdout)).toEqual({
    url: href,
    host: hostname,
    port: Number(port),
    database: pathname.slice(1),
    user: username,
    password,
    schemas: ['marts', 'finance'],
  });
});

test('url --json has the host and port of the parameters, if DATABASE_URL has them there', async () => {
  const spelled = new URL(database.url);
  const { hostname, port } = spelled;
  Object.assign(spelled, { hostname: 'elsewhere', port: '1' });
  spelled.search = new URLSearchParams({ host: hostname, port }).toString();
  const { stdout } = await daybook({ url: spelled.href }, ['url', '--json']);
  expect(JSON.parse(stdout)).toMatchObject({ host: hostname, port: Number(port) });
});

test.each([
  ['postgres://u:p@[::1]:6543/books', '::1', 6543],
  ['postgres://u:p@[fd00::2]/books', 'fd00::2', 5432],
  ['postgres://u:p@%2Frun%2Fpostgresql/books', '/run/postgresql', 5432],
  ['postgres://u:p@%2Frun%2Fpostgresql/books?port=6543', '/run/postgresql', 6543],
  ['postgres://u:p@db.example.com/books', 'db.example.com', 5432],
])('a form gets the host as the driver connects to it, and the port: %s', (url, host, port) => {
  expect(loginParts(new URL(url))).toEqual({
    url,
    host,
    port,
    database: 'books',
    user: 'u',
    password: 'p',
  });
});

test('url prints SQL for an administrator in one sentence, without the password, if the owner may not create roles', async () => {
  const limited = await createTestDatabase('template template0');
  const { owner, url } = await ownedByNobodySpecial(limited);
  const place = { ...limited, url };
  const refused = await daybook(place, ['url']);
  expect(refused.code).toBe(1);
  expect(refused.stderr.trim().split('\n')).toHaveLength(1);
  const [, statements = ''] = /Have a server administrator run this once: (.*)$/m.exec(refused.stderr) ?? [];
  expect(statements).toMatch(/^create role daybook_bi_[0-9a-f]{8} login password 'SCRAM-SHA-256\$/);
  const admin = new pg.Client(limited.adminUrl);
  await admin.connect();
  await admin.query(statements);
  const made = await urlOf(place);
  expect(refused.stderr).not.toContain(made.password);
  await logIn(made);
  await admin.query(
    `drop owned by ${made.username}; drop role ${made.username}; reassign owned by ${owner} to postgres`,
  );
  await admin.end();
});

test('psql opens with the login of url, and its command line has no password', async () => {
  const asked = ['psql', '--', '--csv', '-c', 'select current_user, count(*) from finance.bills'];
  const { code, stdout } = await daybook(database, asked);
  expect(stdout).toBe(`current_user,count\n${(await urlOf(database)).username},1\n`);
  expect(code).toBe(0);
  await writeFile(
    join(home, 'psql'),
    '#!/bin/sh\ntr "\\0" " " < /proc/$$/cmdline\necho "and $PGPASSWORD"\n',
    { mode: 0o755 },
  );
  const { password } = await urlOf(database);
  const faked = await daybook(database, ['psql'], { PATH: `${home}:${process.env.PATH ?? ''}` });
  const [commandLine = '', environment = ''] = faked.stdout.split('and ');
  expect(commandLine).not.toContain(password);
  expect(environment.trim()).toBe(password);
});

const { username: owner, password: secret, host: place, hostname, port, pathname } = new URL(database.url);

test.each([
  `postgres://${place}${pathname}?options=-c%20work_mem%3D9MB&%75ser=${owner}&password=${secret}`,
  `postgres://other:wrong@${place}${pathname}?user=${owner}&passfile=planted&password=${secret}#${secret}`,
  `postgres:///${pathname.slice(1)}?host=${hostname}&port=${port}&user=${owner}&password=${secret}`,
])(
  "url and psql reveal nothing of an owner's login in the parameters of DATABASE_URL (%#)",
  async (spelled) => {
    const url = await urlOf({ url: spelled });
    for (const hidden of [secret, 'wrong', 'planted']) expect(url.href).not.toContain(hidden);
    const { username } = await urlOf(database);
    expect(url.username).toBe(username);
    const shown = new pg.Client(url.href);
    await shown.connect();
    const asked = 'select session_user, current_user';
    expect((await shown.query(asked)).rows).toEqual([{ session_user: username, current_user: username }]);
    await shown.end();
    const { stdout } = await daybook({ url: spelled }, ['psql', '--', '--csv', '-t', '-c', asked]);
    expect(stdout).toBe(`${username},${username}\n`);
  },
);

test.each([
  ['postgres:///books?host=%2Frun%2Fpostgresql&user=u&password=p', '/run/postgresql'],
  ['postgres:///books?host=::1&user=u&password=p', '::1'],
  ['postgres://u:p@%2Frun%2Fpostgresql/books?user=v', '/run/postgresql'],
])('an address without a host gets the login replaced and keeps its place: %s', (spelled, host) => {
  const { href } = loginUrl(spelled, { login: 'reader', password: 'its' });
  const { user, password, database: name, host: led } = databaseAddress(href);
  expect({ user, password, name, led }).toEqual({
    user: 'reader',
    password: 'its',
    name: 'books',
    led: host,
  });
});

test('an address that would log in another role is refused', async () => {
  const url = new URL(database.url);
  url.searchParams.set('user', owner);
  url.username = 'reader';
  await expect(expectOpens(url)).rejects.toThrow(/lets in another role than reader/);
});

test('a missing psql is reported in one sentence', async () => {
  const { code, stderr } = await daybook(database, ['psql'], { PATH: '/nowhere' });
  expect(stderr).toMatch(/^psql is not on the PATH: install the client of PostgreSQL .*\n$/);
  expect(code).toBe(2);
});

async function logIn(url: URL): Promise<void> {
  const client = new pg.Client(url.href);
  await client.connect();
  await client.end();
}

async function urlOf(place: Pick<TestDatabase, 'url'>): Promise<URL> {
  const { stdout, stderr } = await daybook(place, ['url']);
  expect(stderr).toBe('');
  return new URL(stdout.trim());
}

/** A warehouse whose owner may not create roles. The role for readers exists already. */
async function ownedByNobodySpecial({ adminUrl }: TestDatabase): Promise<{ owner: string; url: string }> {
  const admin = openWarehouse({ url: adminUrl, connections: 1 });
  const { name } = await row(admin, `select current_database() as name`);
  const owner = `owner_of_${String(name)}`;
  const url = new URL(adminUrl);
  url.username = owner;
  await rows(admin, `create role ${owner} login password '${decodeURIComponent(url.password)}'`);
  await rows(admin, `alter database ${String(name)} owner to ${owner}`);
  await admin.close();
  const owned = openWarehouse({ url: url.href, connections: 2 });
  await migrate(owned);
  await owned.close();
  return { owner, url: url.href };
}

function daybook(
  { url }: Pick<TestDatabase, 'url'>,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  const environment = {
    PATH: process.env.PATH,
    HOME: home,
    DAYBOOK_HOME: home,
    DATABASE_URL: url,
    DAYBOOK_SECRET_KEY: key,
    ...{
      DAYBOOK_API_URL: 'http://127.0.0.1:9/versioned',
      DAYBOOK_CLIENT_ID: 'client',
      DAYBOOK_CLIENT_SECRET: 'x',
    },
  };
  return new Promise((done) => {
    execFile(
      process.execPath,
      [builtProgram, ...args],
      { env: { ...environment, ...env } },
      (error, stdout, stderr) => {
        done({ code: error === null ? 0 : Number(error.code), stdout, stderr });
      },
    );
  });
}
