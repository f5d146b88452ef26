import { tmpdir } from 'node:os';
import path from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { ConfigurationError } from '../../config/configuration-error.ts';
import { parseConfig } from '../../config/parse-config.ts';

const secretKey = Buffer.alloc(32, 7).toString('base64');
const credentials = {
  DAYBOOK_SECRET_KEY: secretKey,
  DAYBOOK_CLIENT_ID: 'client',
  DAYBOOK_CLIENT_SECRET: 'secret',
};

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    parseConfig(env);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
  return [];
}

test('an empty configuration means embedded servers and the documented defaults', () => {
  expect(parseConfig({})).toEqual({
    api: {
      url: undefined,
      clientId: undefined,
      clientSecret: undefined,
      version: '2023-03-14',
      requestsPer10s: 450,
    },
    database: { url: undefined, directUrl: undefined, connections: 10 },
    temporal: undefined,
    home: path.resolve('.daybook'),
    secretKey: undefined,
    policies: {
      lookbackMilliseconds: 10 * 60_000,
      giveUpAfterMilliseconds: 10 * 60_000,
      deleteLimit: 0.2,
      keep: { runsMilliseconds: 90 * 86_400_000, historyMilliseconds: null },
    },
    lake: {
      location: path.resolve('.daybook/lake'),
      scratch: path.resolve('.daybook/export'),
      keep: { last: 7, daily: 30, monthEnds: true },
      format: 'parquet',
    },
    http: { host: '127.0.0.1', port: 8390, portIsDefault: true },
    consolePassword: undefined,
    logLevel: undefined,
    reportingTimezone: 'UTC',
    sparkMaster: 'local[*]',
  });
});

test('configured values are used', () => {
  const config = parseConfig({
    DAYBOOK_API_URL: 'https://api.example.com/versioned/',
    DAYBOOK_CLIENT_ID: 'client',
    DAYBOOK_CLIENT_SECRET: 'secret',
    DAYBOOK_API_VERSION: '2023-02-07',
    DAYBOOK_API_REQUESTS_PER_10S: '100',
    DATABASE_URL: 'postgres://books@db.example.com/daybook',
    DAYBOOK_DATABASE_CONNECTIONS: '20',
    DAYBOOK_DATABASE_DIRECT_URL: 'postgres://books@server.example.com/daybook',
    DAYBOOK_SECRET_KEY: secretKey,
    DAYBOOK_HOME: '/var/lib/daybook',
    DAYBOOK_HTTP_PORT: '8080',
    DAYBOOK_LOOKBACK: '0s',
    DAYBOOK_GIVE_UP_AFTER: '2h',
    DAYBOOK_KEEP_RUNS: '7d',
    DAYBOOK_KEEP_QUIET_RUNS: '2d',
    DAYBOOK_KEEP_HISTORY: '365d',
    DAYBOOK_CONSOLE_PASSWORD: 'open sesame, please',
    DAYBOOK_LOG_LEVEL: 'debug',
    PATH: '/bin',
  });
  expect(config).toMatchObject({
    api: {
      url: 'https://api.example.com/versioned',
      clientId: 'client',
      clientSecret: 'secret',
      version: '2023-02-07',
      requestsPer10s: 100,
    },
    database: {
      url: 'postgres://books@db.example.com/daybook',
      directUrl: 'postgres://books@server.example.com/daybook',
      connections: 20,
    },
    secretKey: Buffer.alloc(32, 7),
    home: '/var/lib/daybook',
    http: { host: '127.0.0.1', port: 8080, portIsDefault: false },
    policies: {
      lookbackMilliseconds: 0,
      giveUpAfterMilliseconds: 2 * 3_600_000,
      keep: {
        runsMilliseconds: 7 * 86_400_000,
        quietRunsMilliseconds: 2 * 86_400_000,
        historyMilliseconds: 365 * 86_400_000,
      },
    },
    consolePassword: 'open sesame, please',
    logLevel: 'debug',
  });
});

test('quiet runs must be kept for at least a day', () => {
  const short = { DAYBOOK_KEEP_QUIET_RUNS: '23h' };
  expect(() => parseConfig(short)).toThrow(/DAYBOOK_KEEP_QUIET_RUNS.*must be 1d or more/);
});

test('an empty variable counts as not set', () => {
  expect(parseConfig({ DATABASE_URL: '', DAYBOOK_API_URL: '', TEMPORAL_ADDRESS: '' })).toEqual(
    parseConfig({}),
  );
});

test('a file that a database URL names and that cannot be read is told with its parameter', () => {
  const url = 'postgres://db.example.com/books?sslmode=verify-full';
  expect(
    problemsOf({
      ...credentials,
      DATABASE_URL: `${url}&sslrootcert=/nowhere/ca.pem&sslcert=${tmpdir()}&sslkey=planted-key`,
      DAYBOOK_DATABASE_DIRECT_URL: `${url}&sslrootcert=/nowhere/old.pem&sslrootcert=/nowhere/new%20one.pem`,
    }),
  ).toEqual([
    'DATABASE_URL names a file that cannot be read, sslrootcert=/nowhere/ca.pem (ENOENT): correct the path, or let this user read the file.',
    'DATABASE_URL names a file that cannot be read, the one of sslcert (EISDIR): correct the path, or let this user read the file.',
    'DATABASE_URL names a file that cannot be read, the one of sslkey (ENOENT): correct the path, or let this user read the file.',
    'DAYBOOK_DATABASE_DIRECT_URL names a file that cannot be read, sslrootcert=/nowhere/new one.pem (ENOENT): correct the path, or let this user read the file.',
  ]);
  expect(problemsOf({ ...credentials, DATABASE_URL: `${url}&sslrootcert=${import.meta.filename}` })).toEqual(
    [],
  );
});

test('every problem is reported at once, each with the remedy', () => {
  const problems = problemsOf({
    DATABASE_URL: 'postgres://db/books',
    DAYBOOK_DELETE_LIMIT: '20%',
    DAYBOOK_HTTP_HOST: '0.0.0.0',
    DAYBOOK_HTTP_PORT: '99999',
    DAYBOOK_LOKBACK: '5m',
    DAYBOOK_LOOKBACK: '10 minutes',
    TEMPORAL_API_KEY: 'key',
  });
  expect(problems.toSorted()).toEqual([
    'DAYBOOK_CONSOLE_PASSWORD is required when DAYBOOK_HTTP_HOST is 0.0.0.0.',
    'DAYBOOK_DELETE_LIMIT must be a share from 0 to 1.',
    'DAYBOOK_HTTP_PORT must be from 0 to 65535.',
    'DAYBOOK_LOKBACK is not a variable of Daybook. Did you mean DAYBOOK_LOOKBACK?',
    'DAYBOOK_LOOKBACK must be a duration like 30s, 10m, 2h or 7d.',
    'DAYBOOK_SECRET_KEY is required with DATABASE_URL: it encrypts the access tokens. Make one with: openssl rand -base64 32',
    'TEMPORAL_ADDRESS is required with TEMPORAL_API_KEY.',
  ]);
});

describe('an invalid value is refused by name:', () => {
  test.each([
    ['DAYBOOK_API_URL', 'api.example.com'],
    ['DAYBOOK_API_URL', 'ftp://api.example.com'],
    ['DAYBOOK_API_URL', 'https://user:secret@api.example.com'],
    ['DAYBOOK_API_URL', 'https://api.example.com/?access_token=secret'],
    ['DAYBOOK_API_VERSION', 'latest'],
    ['DAYBOOK_API_REQUESTS_PER_10S', '0'],
    ['DAYBOOK_API_REQUESTS_PER_10S', '4.5'],
    ['DATABASE_URL', 'mysql://db/books'],
    ['DATABASE_URL', 'postgres:user:secret@db/books'],
    ['DAYBOOK_DATABASE_CONNECTIONS', '1'],
    ['DAYBOOK_SECRET_KEY', 'short'],
    ['DAYBOOK_SECRET_KEY', Buffer.alloc(31).toString('base64')],
    ['DAYBOOK_KEEP_RUNS', '90'],
    ['DAYBOOK_KEEP_HISTORY', 'always'],
    ['DAYBOOK_REPORTING_TIMEZONE', 'Mars/Olympus'],
    ['DAYBOOK_HTTP_PORT', '-1'],
    ['DAYBOOK_LOOKBACK', '10'],
    ['DAYBOOK_DELETE_LIMIT', '1.5'],
    ['DAYBOOK_DELETE_LIMIT', '-0.1'],
    ['DAYBOOK_ALERT_URL', 'not a url'],
    ['DAYBOOK_ALERT_URL', 'https://user:p%ZZ@alerts.example.com/hook'],
    ['DAYBOOK_ALERT_URL', 'https://us%er@alerts.example.com/hook'],
    ['DAYBOOK_ALERT_URL', 'https://alerts.example.com:6000/hook'],
    ['DAYBOOK_ALERT_URL', 'http://127.0.0.1:10080'],
    ['DAYBOOK_GIVE_UP_AFTER', '1w'],
    ['DAYBOOK_LOG_LEVEL', 'loud'],
  ])('%s=%s', (name, value) => {
    const problems = problemsOf({ ...credentials, [name]: value });
    expect(problems).toEqual([expect.stringMatching(new RegExp(`^${name} must be `))]);
  });

  test.each(['https://user:p%25%20%C3%A9@alerts.example.com/hook?%ZZ', 'https://alerts.example.com:8443'])(
    'but not DAYBOOK_ALERT_URL=%s',
    (value) => {
      expect(problemsOf({ DAYBOOK_ALERT_URL: value })).toEqual([]);
    },
  );

  test('only ports of DAYBOOK_ALERT_URL that fetch blocks', async () => {
    const refused = Array.from({ length: 10_100 }, (_, port) => `http://127.0.0.1:${port + 1}`).filter(
      (url) => problemsOf({ DAYBOOK_ALERT_URL: url }).length > 0,
    );
    expect(refused.length).toBeGreaterThan(80);
    for (const url of refused)
      await expect(fetch(url)).rejects.toMatchObject({ cause: { message: 'bad port' } });
  });

  test.each(['0', '1', '0.2', '1.0', '.5'])('but not DAYBOOK_DELETE_LIMIT=%s', (value) => {
    expect(problemsOf({ DAYBOOK_DELETE_LIMIT: value })).toEqual([]);
  });
});

describe('an unknown name', () => {
  test("with Daybook's prefix is refused, with the name that was probably meant", () => {
    expect(problemsOf({ DAYBOOK_API_ULR: 'https://a.example' })).toEqual([
      'DAYBOOK_API_ULR is not a variable of Daybook. Did you mean DAYBOOK_API_URL?',
    ]);
  });

  test('unlike any other is refused without a guess', () => {
    expect(problemsOf({ DAYBOOK_FAVOURITE_COLOUR: 'blue' })).toEqual([
      'DAYBOOK_FAVOURITE_COLOUR is not a variable of Daybook.',
    ]);
  });

  test("without Daybook's prefix is ignored", () => {
    expect(problemsOf({ HOME: '/root', DATABASE: 'x', PGHOST: 'y', TEMPORAL_CLI: 'z' })).toEqual([]);
  });
});

describe('variables that need another', () => {
  test('DATABASE_URL needs DAYBOOK_SECRET_KEY', () => {
    expect(problemsOf({ DATABASE_URL: 'postgres://db/books' })).toEqual([
      expect.stringContaining('DAYBOOK_SECRET_KEY is required with DATABASE_URL'),
    ]);
  });

  test('DAYBOOK_API_URL needs the credentials of the organization', () => {
    expect(problemsOf({ DAYBOOK_API_URL: 'https://api.example.com' })).toEqual([
      'DAYBOOK_CLIENT_ID is required with DAYBOOK_API_URL.',
      'DAYBOOK_CLIENT_SECRET is required with DAYBOOK_API_URL.',
    ]);
  });

  test.each(['0.0.0.0', '::', '192.168.1.4', 'books.example.com', '127.0.0.1.example.com'])(
    'DAYBOOK_HTTP_HOST=%s, which others can reach, needs DAYBOOK_CONSOLE_PASSWORD',
    (host) => {
      expect(problemsOf({ DAYBOOK_HTTP_HOST: host })).toEqual([
        `DAYBOOK_CONSOLE_PASSWORD is required when DAYBOOK_HTTP_HOST is ${host}.`,
      ]);
      expect(problemsOf({ DAYBOOK_HTTP_HOST: host, DAYBOOK_CONSOLE_PASSWORD: 'twelve chars' })).toEqual([]);
    },
  );

  test.each(['127.0.0.1', '127.1.2.3', 'localhost', '::1'])(
    'DAYBOOK_HTTP_HOST=%s needs no password',
    (host) => {
      expect(problemsOf({ DAYBOOK_HTTP_HOST: host })).toEqual([]);
    },
  );

  test('an IPv6 address in brackets, as in a URL, is listened on without them', () => {
    expect(parseConfig({ DAYBOOK_HTTP_HOST: '[::1]' }).http.host).toBe('::1');
  });
});

test('a configuration error shows no value, because any may be a misplaced secret', () => {
  const env = Object.fromEntries(
    [
      'DAYBOOK_API_URL',
      'DAYBOOK_API_VERSION',
      'DAYBOOK_API_REQUESTS_PER_10S',
      'DATABASE_URL',
      'DAYBOOK_SECRET_KEY',
      'DAYBOOK_DATABASE_CONNECTIONS',
      'DAYBOOK_KEEP_RUNS',
      'DAYBOOK_REPORTING_TIMEZONE',
      'DAYBOOK_HTTP_PORT',
      'DAYBOOK_LOOKBACK',
      'DAYBOOK_DELETE_LIMIT',
      'DAYBOOK_ALERT_URL',
      'DAYBOOK_LOG_LEVEL',
      'DAYBOOK_SECRET',
      'TEMPORAL_API_KEY',
    ].map((name) => [name, 'hush-hush']),
  );
  try {
    parseConfig(env);
    expect.unreachable();
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(inspect(error, { depth: 10 })).not.toContain('hush-hush');
  }
});

describe('credentials without TLS go only to loopback:', () => {
  const service = (url: string): Record<string, string> => ({ ...credentials, DAYBOOK_API_URL: url });
  const far = [
    'http://api.example.com',
    'http://10.0.0.7:8080',
    'http://[2001:db8::1]',
    'http://127.0.0.1.example.com',
  ];

  test.each(far)('DAYBOOK_API_URL and DAYBOOK_ALERT_URL are refused for %s', (url) => {
    const problems = problemsOf({ ...service(url), DAYBOOK_ALERT_URL: `${url}/secret-hook` });
    expect(problems).toEqual([
      expect.stringMatching(/^DAYBOOK_API_URL must start with https:\/\/.* DAYBOOK_ALLOW_HTTP=true/),
      expect.stringMatching(/^DAYBOOK_ALERT_URL must start with https:\/\/.* DAYBOOK_ALLOW_HTTP=true/),
    ]);
    expect(problems.join()).not.toContain('secret-hook');
  });

  test.each(far)('DAYBOOK_ALLOW_HTTP=true allows %s', (url) => {
    expect(problemsOf({ ...service(url), DAYBOOK_ALERT_URL: url, DAYBOOK_ALLOW_HTTP: 'true' })).toEqual([]);
  });

  test.each([
    'http://127.0.0.1:8080',
    'http://localhost:8080',
    'http://[::1]:8080',
    'http://127.8.9.1',
    'https://far.example.com',
  ])('%s needs no DAYBOOK_ALLOW_HTTP', (url) => {
    expect(problemsOf({ ...service(url), DAYBOOK_ALERT_URL: url })).toEqual([]);
  });

  test('DAYBOOK_ALLOW_HTTP is true or false', () => {
    expect(problemsOf({ DAYBOOK_ALLOW_HTTP: 'yes' })).toEqual(['DAYBOOK_ALLOW_HTTP must be true or false.']);
    expect(problemsOf({ DAYBOOK_ALLOW_HTTP: 'false' })).toEqual([]);
  });
});
