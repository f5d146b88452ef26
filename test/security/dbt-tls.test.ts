import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../embedded/free-port.ts';
import { postgresAccount } from '../../embedded/postgres-account.ts';
import { startPostgres } from '../../embedded/postgres.ts';
import { trustedAuthorities } from '../../python/trusted-authorities.ts';
import { postgresOutput } from '../../marts/postgres-output.ts';
import { pythonWithDbt } from '../../marts/python-with-dbt.ts';
import { requiringScram } from '../../warehouse/session/require-auth.ts';
import { makeCertificates } from './certificates.ts';
import { startFakePostgres } from './fake-postgres.ts';
import { cacheFolder } from '../support/cache-folder.ts';

const folder = await mkdtemp(join(tmpdir(), 'daybook-dbt-tls-'));
const ours = await makeCertificates(folder, 'ours');
const foreign = await makeCertificates(folder, 'foreign');
const { own } = await postgresAccount();
await Promise.all([own(ours.certificate), own(ours.key)]);
// Postgres opens these files by name.
await chmod(folder, 0o711);
const postgres = await startPostgres({
  dataDir: join(folder, 'postgres'),
  port: await freePort(),
  settings: { ssl: 'on', ssl_cert_file: ours.certificate, ssl_key_file: ours.key },
});
afterAll(async () => {
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
});
const authoritiesFile = join(folder, 'authorities.pem');
let python: string;

beforeAll(async () => {
  await writeFile(authoritiesFile, await trustedAuthorities());
  python = await pythonWithDbt({ cacheFolder, onStep: () => undefined });
});

test.each([
  ['sslmode=verify-full&sslrootcert=', foreign.ca],
  ['sslmode=require&sslrootcert=', foreign.ca],
  ['sslmode=verify-ca', ''],
  ['sslmode=require', ''],
  ['sslmode=prefer', ''],
  ['ssl=true', ''],
])('dbt, like Node.js, refuses a Postgres that cannot prove its identity: %s', async (mode, ca) => {
  const url = `${postgres.url}?${mode}${ca}`;
  await expect(nodeConnects(url)).rejects.toThrow(/certificate/);
  await expect(dbtConnects(url)).rejects.toThrow(/certificate verify failed/);
});

test.each([
  ['sslmode=verify-full&sslrootcert=', ours.ca, true],
  ['sslmode=require&sslrootcert=', ours.ca, true],
  ['sslmode=no-verify', '', true],
  ['sslmode=disable', '', false],
] as const)(
  'dbt connects where Node.js does, encrypted or not as Node.js is: %s',
  async (mode, ca, encrypted) => {
    const url = `${postgres.url}?${mode}${ca}`;
    expect(await nodeConnects(url)).toBe(encrypted);
    expect(await dbtConnects(url)).toBe(encrypted);
  },
);

test('dbt finds host, port, user and password anywhere in the address', async () => {
  const { port, username, password, pathname } = new URL(postgres.url);
  const url = `postgres://nowhere:1${pathname}?host=127.0.0.1&port=${port}&user=${username}&password=${password}`;
  await nodeConnects(url);
  await dbtConnects(url);
});

test('dbt logs in to the embedded Postgres with SCRAM only, and sends a fake server no password', async () => {
  expect(await dbtConnects(requiringScram(`${postgres.url}?sslmode=disable`))).toBe(false);
  for (const authRequest of ['clear text', 'md5', 'nothing'] as const) {
    const stranger = await startFakePostgres(authRequest);
    const url = `postgres://daybook:the-password-of-the-owner@127.0.0.1:${stranger.port}/daybook`;
    await expect(dbtConnects(requiringScram(url)), authRequest).rejects.toThrow(
      /requirement "scram-sha-256" failed/,
    );
    expect(stranger.received(), authRequest).toContain('daybook');
    expect(stranger.received(), authRequest).not.toMatch(
      /the-password-of-the-owner|md5[0-9a-f]{32}|pg_stat_ssl/,
    );
  }
});

/** Connects with Node.js. Returns whether the session is encrypted. */
async function nodeConnects(url: string): Promise<unknown> {
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query<{ ssl: boolean }>(encrypted);
  await client.end();
  return rows[0]?.ssl;
}

/** Connects with dbt's driver and the values of its profile. */
async function dbtConnects(url: string): Promise<boolean> {
  const { output, secrets, login } = postgresOutput(url, authoritiesFile);
  const { host, port, user, dbname, sslmode, sslcert, sslkey, sslrootcert } = output;
  const given = { host, port, user, dbname, sslmode, sslcert, sslkey, sslrootcert };
  const program = `import json, os, psycopg2
given = json.loads(os.environ['GIVEN'])
cursor = psycopg2.connect(password=os.environ['DBT_ENV_SECRET_PASSWORD'], **given).cursor()
cursor.execute("${encrypted}")
print(cursor.fetchone()[0])`;
  const env = { ...process.env, ...secrets, ...login, GIVEN: JSON.stringify(given) };
  const { stdout } = await promisify(execFile)(python, ['-c', program], { env });
  return stdout.trim() === 'True';
}

const encrypted = 'select ssl from pg_stat_ssl where pid = pg_backend_pid()';
