import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addConnection } from '../../warehouse/connections/add-connection.ts';
import { migrate } from '../../warehouse/schema/migrate.ts';
import { openWarehouse, type Warehouse } from '../../warehouse/open-warehouse.ts';
import { runDaybook, type Ended } from '../support/daybook-process.ts';
import { bill } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { proofTest } from '../support/proof-test.ts';
import { testApiAddress, testKey } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';

const [database, limited] = await Promise.all([
  createTestDatabase(),
  createTestDatabase('template template0'),
]);
const cwd = await mkdtemp(join(tmpdir(), 'daybook-test-reader-'));
const logins: string[] = [];

beforeAll(() => addCompanies(database.warehouse));
afterAll(async () => {
  await rm(cwd, { recursive: true, force: true });
  const admin = await connectTo(database.adminUrl);
  for (const login of logins)
    await admin.query(`drop owned by ${login}; drop role ${login}`).catch(() => undefined);
  await admin.end();
});

test('reader add prints one line, a complete URL of a login that sees only these connections', async () => {
  const added = await daybook(
    'reader',
    'add',
    'portal',
    '--connection',
    'acme-us',
    'acme-eu',
    '--connection',
    'acme-uk',
  );
  expect(added.code).toBe(0);
  expect(added.stderr).toContain('portal sees acme-us, acme-eu, acme-uk. Its password is not shown again:');
  const url = urlIn(added);
  expect(await seenThrough(url)).toEqual(['acme-eu', 'acme-uk', 'acme-us']);
  const reader = await connectTo(url.href);
  expect((await reader.query<{ TimeZone: string }>('show timezone')).rows[0]?.TimeZone).toBe('UTC');
  await expect(reader.query('delete from finance.bills')).rejects.toThrow(/read-only transaction/);
  await reader.end();
});

proofTest(
  'reader list and status show which reader sees which connections, and list shows no password',
  async () => {
    const added = urlIn(await daybook('reader', 'add', 'lists', '--connection', 'acme-us'));
    const { stdout } = await daybook('reader', 'list', '--json');
    const listed = (JSON.parse(stdout) as { reader: string }[]).find(({ reader }) => reader === 'lists');
    expect(listed).toMatchObject({ connections: ['acme-us'], login: added.username, trouble: null });
    expect(stdout).not.toContain(added.password);
    expect((await daybook('reader', 'list')).stdout).toMatch(/^lists +acme-us +daybook_reader_[0-9a-f]{12}/m);
    const { stdout: status } = await daybook('status', '--json');
    const { connections } = JSON.parse(status) as { connections: { name: string; readers: string[] }[] };
    expect(connections.find(({ name }) => name === 'rival')?.readers).toEqual([]);
    expect(connections.find(({ name }) => name === 'acme-us')?.readers).toContain('lists');
  },
);

test('reader add refuses unknown connections, invalid names and a missing --connection', async () => {
  const unknown = await daybook('reader', 'add', 'wrong', '--connection', 'acme-us', 'acme-su');
  expect(unknown.code).not.toBe(0);
  expect(unknown.stderr).toContain('acme-su');
  expect(unknown.stdout).toBe('');
  expect((await daybook('reader', 'add', 'Drop Table', '--connection', 'acme-us')).code).toBe(2);
  expect((await daybook('reader', 'add', 'nothing')).code).toBe(2);
  expect((await daybook('reader', 'list')).stdout).not.toContain('wrong');
});

test("reader remove ends a reader's access, and doctor names a reader whose login was dropped", async () => {
  const url = urlIn(await daybook('reader', 'add', 'short', '--connection', 'acme-us'));
  expect((await daybook('reader', 'remove', 'short')).stdout).toBe(
    'Removed short; it no longer sees anything.\n',
  );
  await expect(connectTo(url.href)).rejects.toThrow();
  expect((await daybook('reader', 'remove', 'short')).code).not.toBe(0);
  const { username } = urlIn(await daybook('reader', 'add', 'lost', '--connection', 'acme-us'));
  const admin = await connectTo(database.adminUrl);
  await admin.query(`drop owned by ${username}; drop role ${username}`);
  await admin.end();
  expect((await daybook('doctor')).stdout).toMatch(/reader lost cannot read: its login does not exist/);
});

proofTest(
  'reader list and doctor name a reader whose login was made a member of a role that sees all',
  async () => {
    const { username } = urlIn(await daybook('reader', 'add', 'beyond', '--connection', 'acme-us'));
    const admin = await connectTo(database.adminUrl);
    await admin.query(`grant daybook_reader to ${username}`);
    await admin.end();
    expect((await daybook('reader', 'list')).stdout).toMatch(
      /^beyond .* sees all connections as daybook_reader *$/m,
    );
    expect((await daybook('doctor')).stdout).toContain(
      `reader beyond sees all connections with "set role daybook_reader", which its login was made a member of. Run: revoke daybook_reader from ${username};`,
    );
  },
);

test('reader add prints SQL for an administrator, without the password, if the owner may not create roles', async () => {
  const admin = await connectTo(limited.adminUrl);
  const name = new URL(limited.url).pathname.slice(1);
  const owner = `owner_of_${name}`;
  const url = new URL(limited.adminUrl);
  url.username = owner;
  await admin.query(`create role ${owner} login password '${decodeURIComponent(url.password)}'`);
  await admin.query(`alter database ${name} owner to ${owner}`);
  const owned = openWarehouse({ url: url.href, connections: 2 });
  await migrate(owned);
  await addCompanies(owned);
  const added = await daybookAt(url.href, 'reader', 'add', 'portal', '--connection', 'acme-us');
  const login = urlIn(added);
  expect(added.stderr).toContain('Have a server administrator run the following');
  expect(added.stderr).not.toContain(login.password);
  await expect(connectTo(login.href)).rejects.toThrow();
  const sql = added.stderr.split('\n').filter((line) => /^(create|alter|grant) .*;$/.test(line));
  await admin.query(sql.join('\n'));
  await migrate(owned);
  expect(await seenThrough(login)).toEqual(['acme-us']);
  const removed = await daybookAt(url.href, 'reader', 'remove', 'portal');
  expect(removed.stdout).toContain(`drop role ${login.username};`);
  expect(await seenThrough(login).catch(() => [])).toEqual([]);
  await owned.close();
  await admin.query(
    `drop owned by ${login.username}; drop role ${login.username}; reassign owned by ${owner} to postgres`,
  );
  await admin.end();
});

async function addCompanies(warehouse: Warehouse): Promise<void> {
  for (const connectionId of ['acme-us', 'acme-eu', 'acme-uk', 'rival']) {
    await addConnection(warehouse, testKey, {
      connectionId,
      apiAddress: testApiAddress,
      token: `token of ${connectionId}`,
      expandPlatformData: false,
    });
    await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('b')]] });
  }
}

function urlIn({ stdout }: Ended): URL {
  expect(stdout.trim().split('\n')).toHaveLength(1);
  const url = new URL(stdout.trim());
  logins.push(url.username);
  return url;
}

async function seenThrough(url: URL): Promise<string[]> {
  const reader = await connectTo(url.href);
  try {
    const { rows } = await reader.query<{ id: string }>(
      'select connection_id as id from finance.bills order by 1',
    );
    return rows.map(({ id }) => id);
  } finally {
    await reader.end();
  }
}

function daybook(...args: string[]): Promise<Ended> {
  return daybookAt(database.url, ...args);
}

function daybookAt(url: string, ...args: string[]): Promise<Ended> {
  return runDaybook(args, {
    cwd,
    env: {
      DATABASE_URL: url,
      DAYBOOK_HOME: join(cwd, 'home'),
      DAYBOOK_API_URL: testApiAddress,
      DAYBOOK_CLIENT_ID: 'client',
      DAYBOOK_CLIENT_SECRET: 'planted-client-secret',
      DAYBOOK_SECRET_KEY: testKey.toString('base64'),
      TEMPORAL_ADDRESS: '127.0.0.1:9',
    },
  });
}

async function connectTo(of: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: of });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}
