import { mkdtemp, rm, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { relayLogins } from '../../warehouse/session/login-relay.ts';
import { requiringScram } from '../../warehouse/session/require-auth.ts';
import { startFakePostgres } from '../security/fake-postgres.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { url } = await createTestDatabase();
const { username, pathname, password } = new URL(url);
const database = pathname.slice(1);

test('a client without a password gets a session with its own settings, through a socket only for its user', async () => {
  const folder = await relayTo(url);
  const client = await openSession(folder, {
    application_name: 'told',
    options: '-c work_mem=9MB',
  });
  const { rows } = await client.query(
    `select current_database(), current_user, current_setting('work_mem') as memory,
      current_setting('application_name') as application`,
  );
  expect(rows).toEqual([
    { current_database: database, current_user: username, memory: '9MB', application: 'told' },
  ]);
  expect(((await stat(join(folder, '.s.PGSQL.5432'))).mode & 0o077).toString(8)).toBe('0');
  const large = await client.query<{ text: string }>(`select repeat('x', 20000000) as text`);
  expect(large.rows[0]?.text).toHaveLength(20_000_000);
});

test('a client that asks for encryption and a newer protocol gets an unencrypted session with protocol 3.0', async () => {
  const folder = await relayTo(url);
  const socket = connect(join(folder, '.s.PGSQL.5432'));
  let heard = '';
  socket.on('data', (data) => (heard += data.toString('latin1')));
  socket.write(numbers(8, 80877104));
  await eventually(() => Promise.resolve(heard === 'N' || undefined));
  socket.write(numbers(8, 80877103));
  await eventually(() => Promise.resolve(heard === 'NN' || undefined));
  const startup = Buffer.from(`user\0${username}\0database\0${database}\0client_encoding\0LATIN1\0\0`);
  socket.write(Buffer.concat([numbers(startup.length + 8, (3 << 16) | 2), startup]));
  await eventually(() => Promise.resolve(heard.endsWith(latin1('Z', [5], 'I')) || undefined));
  expect(heard.startsWith(latin1('NNv', [12, 3 << 16, 0], 'R', [8, 0], 'S'))).toBe(true);
  expect(heard).toContain('client_encoding\0LATIN1\0');
  socket.destroy();
});

test('an invalid startup message ends the connection', async () => {
  const folder = await relayTo(url);
  for (const start of [numbers(2 ** 31 - 1, 0), numbers(0, 0), numbers(-1, 0)]) {
    const socket = connect(join(folder, '.s.PGSQL.5432'));
    socket.write(start);
    await new Promise((resolve) => socket.on('error', () => undefined).once('close', resolve));
  }
});

test('a statement can be canceled, as Ctrl-C in psql does', async () => {
  const folder = await relayTo(url);
  const client = await openSession(folder);
  const { processID, secretKey } = client as unknown as { processID: number; secretKey: number };
  const failure = client.query('select pg_sleep(60)').then(
    () => 'it was not cancelled',
    (error: unknown) => error,
  );
  await new Promise((resolve) => setTimeout(resolve, 200));
  const canceller = connect(join(folder, '.s.PGSQL.5432'));
  canceller.write(numbers(16, 80877102, processID, secretKey));
  await new Promise((resolve) => canceller.once('close', resolve));
  expect(await failure).toMatchObject({ code: '57014' });
  expect((await client.query('select 1 as n')).rows).toEqual([{ n: 1 }]);
});

test('a session that the server refuses or ends fails for the client with the error of the server', async () => {
  const folder = await relayTo(url);
  await expect(openSession(folder, { database: 'not there' })).rejects.toMatchObject({ code: '3D000' });
  await expect(openSession(folder, { user: 'nobody' })).rejects.toMatchObject({ code: '28P01' });
  const client = await openSession(folder);
  await expect(client.query('select pg_terminate_backend(pg_backend_pid())')).rejects.toMatchObject({
    code: '57P01',
  });
  await expect(client.query('select 1')).rejects.toThrow();
});

test('a server that cannot prove its identity gets no password, and the client gets an error', async () => {
  const stranger = await startFakePostgres('clear text');
  const folder = await relayTo(`postgres://somebody:${password}@127.0.0.1:${stranger.port}/daybook`);
  await expect(openSession(folder)).rejects.toMatchObject({
    code: '08001',
    message: expect.stringContaining('does not prove that it is your Postgres') as string,
  });
  expect(stranger.received()).toContain(database);
  expect(stranger.received()).not.toContain(password);
  await stranger.close();
  await expect(openSession(folder)).rejects.toMatchObject({ code: '08006' });
});

/** Starts a relay, and returns the folder of its socket. */
async function relayTo(server: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'relay-'));
  const relay = await relayLogins(requiringScram(server), join(folder, '.s.PGSQL.5432'));
  onTestFinished(async () => {
    await relay.close();
    await rm(folder, { recursive: true });
  });
  return folder;
}

async function openSession(host: string, more: pg.ClientConfig = {}): Promise<pg.Client> {
  const client = new pg.Client({ host, port: 5432, user: username, database, ...more });
  client.on('error', () => undefined);
  onTestFinished(() => client.end());
  await client.connect();
  return client;
}

function latin1(...parts: readonly (string | readonly number[])[]): string {
  const bytes = parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : numbers(...part)));
  return Buffer.concat(bytes).toString('latin1');
}

function numbers(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeInt32BE(value, 4 * index);
  return bytes;
}
