import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { sentInClear } from '../../cli/doctor/sent-in-clear.ts';
import { runDaybook } from '../support/daybook-process.ts';
import { proofTest } from '../support/proof-test.ts';

const cwd = await mkdtemp(join(tmpdir(), 'daybook-in-clear-'));
afterAll(() => rm(cwd, { recursive: true, force: true }));

/** No machine answers at this address. */
const far = '192.0.2.1';

test('doctor refuses a service beyond loopback without TLS, and says what to do', async () => {
  const { code, stdout } = await doctor({ DAYBOOK_API_URL: `http://${far}`, DATABASE_URL: here });
  expect(code).toBe(2);
  expect(stdout).toContain('DAYBOOK_API_URL must start with https://');
  expect(stdout).toContain('DAYBOOK_ALLOW_HTTP=true');
});

proofTest('doctor warns, one line each, of what is allowed to go out in clear text', async () => {
  const { stdout } = await doctor({
    DAYBOOK_API_URL: `http://${far}:8080`,
    DAYBOOK_ALERT_URL: `http://${far}/planted-hook`,
    DAYBOOK_ALLOW_HTTP: 'true',
    DATABASE_URL: `postgres://user:planted-password@127.0.0.1/books?host=${far}&connect_timeout=1`,
  });
  const warnings = stdout.split('\n').filter((line) => line.startsWith('! encryption: '));
  expect(warnings).toEqual([
    expect.stringContaining(`client secret, access tokens and records go to ${far}:8080 in clear text`),
    expect.stringContaining('alerts go out in clear text'),
    expect.stringContaining(`all records go to Postgres at ${far} in clear text: add sslmode=verify-full`),
  ]);
  expect(stdout).not.toMatch(/planted/);
});

test.each([
  [`postgres://user@${far}/books`, /^the password and all records go to Postgres at .* in clear text/],
  [
    `postgres://user@${far}/books?sslmode=disable`,
    /^the password and all records go to Postgres at .* in clear text/,
  ],
  [`postgres://user@${far}/books?sslmode=no-verify`, /^Postgres at .* need not prove that it is yours/],
])('a Postgres beyond loopback without verified TLS causes a warning: %s', (url, warning) => {
  expect(sentInClear(settings(url))).toEqual([expect.stringMatching(warning)]);
});

test.each([
  'postgres://user@127.0.0.1/books',
  'postgres:///books?host=/run',
  `postgres://user@${far}/books?sslmode=verify-full`,
])('a local or verified Postgres causes no warning: %s', (url) => {
  expect(sentInClear(settings(url))).toEqual([]);
});

function settings(url: string): Parameters<typeof sentInClear>[0] {
  return { api: { url: `https://${far}` }, alertUrl: undefined, database: { url, directUrl: url } };
}

const here = 'postgres://user@127.0.0.1:1/books';

function doctor(env: Readonly<Record<string, string>>): ReturnType<typeof runDaybook> {
  const common = {
    DAYBOOK_CLIENT_ID: 'client',
    DAYBOOK_CLIENT_SECRET: 'secret',
    DAYBOOK_SECRET_KEY: Buffer.alloc(32, 'k').toString('base64'),
    DAYBOOK_HOME: join(cwd, 'home'),
    TEMPORAL_ADDRESS: '127.0.0.1:1',
    // Otherwise the command would wait for a Postgres that never answers.
    PGCONNECT_TIMEOUT: '1',
  };
  return runDaybook(['doctor'], { cwd, env: { ...common, ...env } });
}
