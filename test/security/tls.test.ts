import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { freePort } from '../../embedded/free-port.ts';
import { postgresAccount } from '../../embedded/postgres-account.ts';
import { startPostgres } from '../../embedded/postgres.ts';
import { createInstallation } from '../support/installation.ts';
import { proofTest } from '../support/proof-test.ts';
import { temporalAddress } from '../support/temporal-address.ts';
import { makeCertificates } from './certificates.ts';
import { startTlsProxy } from './tls-proxy.ts';

const folder = await mkdtemp(join(tmpdir(), 'daybook-tls-'));
const ours = await makeCertificates(folder, 'ours');
const foreign = await makeCertificates(folder, 'foreign');
// Uses a name, as services' certificates do: for an IP address Node.js prints a warning on stderr.
const temporal = (
  await startTlsProxy(await temporalAddress(), { ...ours, clientsNeedCertificate: true })
).replace('127.0.0.1', 'localhost');
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

const database = (ca: string): string => `${postgres.url}?sslmode=verify-full&sslrootcert=${ca}`;
const installation = await createInstallation({
  env: {
    DATABASE_URL: database(ours.ca),
    TEMPORAL_ADDRESS: temporal,
    TEMPORAL_TLS_SERVER_CA_CERT_PATH: ours.ca,
    TEMPORAL_TLS_CLIENT_CERT_PATH: ours.certificate,
    TEMPORAL_TLS_CLIENT_KEY_PATH: ours.key,
  },
});

test('connections to Postgres and Temporal use TLS and check certificates against the CA files', async () => {
  const { name, accessToken } = await company();
  expect((await installation.run(['migrate'])).code).toBe(0);
  await installation.startWorker();
  const added = await installation.run(['connection', 'add', name, '--no-schedule', '--token-stdin'], {
    input: accessToken,
  });
  expect(added).toMatchObject({ code: 0, stderr: '' });
  expect((await installation.run(['sync', name])).code).toBe(0);
  expect(await clientsWithoutTls()).toEqual([]);
});

proofTest('a Postgres whose certificate comes from another authority is refused', async () => {
  const { code, stderr } = await installation.run(['status'], {
    env: { DATABASE_URL: database(foreign.ca) },
  });
  expect(code).toBe(1);
  expect(stderr.trim().split('\n')).toHaveLength(1);
  expect(stderr).toMatch(/certificate/);
  expect(stderr).not.toContain(new URL(postgres.url).password);
});

proofTest('a Temporal whose certificate comes from another authority is refused', async () => {
  const { code, stderr } = await installation.run(['export'], {
    env: { TEMPORAL_TLS_SERVER_CA_CERT_PATH: foreign.ca },
  });
  expect(code).toBe(1);
  expect(stderr).toContain(`Temporal does not answer at ${temporal}`);
});

async function company(): Promise<{ name: string; accessToken: string }> {
  const made = { name: 'by-tls', accessToken: 'token-by-tls', platform: 'QUICKBOOKS', records: 100 };
  await installation.admin.execute({ kind: 'add-connection', ...made });
  return made;
}

/** Daybook's sessions that are not encrypted. */
async function clientsWithoutTls(): Promise<unknown[]> {
  const client = new pg.Client(postgres.adminUrl);
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, unknown>>(
      `select application_name from pg_stat_ssl join pg_stat_activity using (pid)
       where usename = 'daybook' and not ssl`,
    );
    return rows;
  } finally {
    await client.end();
  }
}
