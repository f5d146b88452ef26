import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { from } from 'pg-copy-streams';
import { beforeAll, describe, expect, test } from 'vitest';
import { checkSchema } from '../../warehouse/schema/migrate.ts';
import { migrations } from '../../warehouse/migrations/index.ts';
import { checkSecretKey } from '../../warehouse/secrets/check-secret-key.ts';
import { builtProgram } from '../support/daybook-process.ts';
import { proofTest } from '../support/proof-test.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { outcomesOf, type Outcome } from './outcomes-of.ts';

const database = await createTestDatabase();
const home = mkdtempSync(path.join(tmpdir(), 'daybook-cli-'));

const environment = {
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  DAYBOOK_HOME: home,
  DATABASE_URL: database.url,
  DAYBOOK_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
  DAYBOOK_API_URL: 'http://127.0.0.1:9/versioned',
  DAYBOOK_CLIENT_ID: 'client',
  DAYBOOK_CLIENT_SECRET: 'planted-client-secret',
  TEMPORAL_ADDRESS: '127.0.0.1:9',
};

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a command line as a user types it. */
function daybook(
  args: readonly string[],
  options: { env?: Record<string, string>; input?: string } = {},
): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [builtProgram, ...args],
      { env: { ...environment, ...options.env } },
      (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
      },
    );
    child.stdin?.end(options.input ?? '');
  });
}

type TypedLine = readonly [line: readonly string[], sentence: string];

const wrongLines: readonly TypedLine[] = [
  [['bogus'], 'unknown command'],
  [['sync'], 'missing required argument'],
  [['sync', 'x', '--resource', 'invoices'], 'The resources are bills'],
  [['connection', 'add', 'Not A Name', '--token-stdin'], 'lower-case letters'],
  [['connection', 'add', 'acme'], '--token-stdin or --token-env'],
  [['connection', 'add', 'acme', '--token-env', 'NO_SUCH_VARIABLE'], 'NO_SUCH_VARIABLE is not set'],
  [['connection', 'add', 'acme', '--token-stdin', '--every', '15'], 'like 7d, or "off".'],
  [['connection', 'add', 'acme', '--token-stdin', '--every', '0s'], 'like 7d, or "off".'],
  [['connection', 'add', 'acme', '--token-stdin', '--every', '5m', '--no-schedule'], 'cannot be used with'],
  [['connection', 'add', 'acme', '--token-stdin', '--every', '3651d'], 'from 1s to 3650d'],
  [['connection', 'set', 'acme', '--reconcile-every', '9999999d'], 'from 1s to 3650d'],
  [['export', '--every', '9999999d'], 'It must be a duration from 1m to 3650d, like 7d, or "off".'],
  [
    ['backfill', 'x', '--last', '9999999d', '--every', '7d'],
    'It must be a duration from 1h to 3650d, like 7d.',
  ],
  [['backfill', 'x', '--every', '30m'], 'It must be a duration from 1h to 3650d, like 7d, or "off".'],
  [['connection', 'set', 'acme'], 'Give --every, --reconcile-every or both'],
  [['quarantine', 'show', 'twelve'], 'whole number'],
  [['snapshots', 'verify', '20250101T000000Z-00aa11'], 'There is no snapshot 20250101T000000Z-00aa11 in '],
  [['snapshots', 'diff', '20250101T000000Z-00aa11', '20250102T000000Z-22bb33'], 'There is no snapshot '],
  [['sandbox', '--records', '5'], 'It must be a whole number from 100 to 1,000,000.'],
  [['sandbox', '--port', '99999'], 'It must be a whole number from 0 to 65,535.'],
  [['up', '--records', '2000000'], 'It must be a whole number from 100 to 1,000,000.'],
  [['sql', 'select 1', '--json', '--csv'], 'cannot be used with'],
  [['export', '--every', '1h', '--iceberg'], '--every sets a schedule only, so leave out --iceberg'],
  [['export', '--every', 'off', '--force', '--no-wait'], 'so leave out --force and --no-wait'],
  [['backfill', 'x', '--last', '9d', '--every', '7d', '--no-wait'], '--last and --every only'],
  [
    ['backfill', 'x', '--from', '2024-01-01', '--to', '2024-02-01', '--window', '30m'],
    "argument '30m' is invalid. It must be a duration from 1h to 36525d, like 7d.",
  ],
];

const linesWithSecrets: readonly TypedLine[] = [
  [['connection', 'add', 'acme', '--token-env', 'Planted-token.1'], 'The variable is not set or empty.'],
  [['connection', 'set-token', 'acme', '--token-env=planted0token'], 'The variable is not set or empty.'],
  [['connection', 'add', 'acme', '--token-env', 'PLANTED7QHK3ZXP2'], 'Give its name, not the access token'],
  [['connection', 'rotate-key', '--new-key-env', 'cGxhbnRlZA=='], 'Give its name, not the new key itself.'],
  [['connection', 'add', 'acme', '--token=planted-token'], "unknown option '--token'\n"],
  [['connection', 'set-token', 'acme', `--token='planted\n-token`], "unknown option '--token'\n"],
  [['connection', 'add', 'acme', '-tplanted-token'], "unknown option '-t'\n"],
  [['--password=planted-password', 'connection', 'list'], "unknown option '--password'\n"],
  [['connection', 'add', 'acme', 'planted-token', '--token-stdin'], "too many arguments for 'add'"],
  [['connection', 'set-token', 'acme', 'planted-token'], "too many arguments for 'set-token'"],
  [['connection', 'add', 'Planted.token', '--token-stdin'], "That cannot be a connection's name"],
];

describe('a command line that cannot work exits with 2', () => {
  test('and reports every configuration problem at once', async () => {
    const { code, stderr } = await daybook(['status'], {
      env: { DAYBOOK_LOKBACK: '1m', DAYBOOK_LOOKBACK: 'soon', DAYBOOK_HTTP_PORT: '99999' },
    });
    expect(code).toBe(2);
    expect(stderr).toContain('Did you mean DAYBOOK_LOOKBACK?');
    expect(stderr).toContain('DAYBOOK_LOOKBACK must be a duration');
    expect(stderr).toContain('DAYBOOK_HTTP_PORT must be');
  });

  // One process runs them all, because most of the cost of a command is its start, and a wrong line ends before it does anything.
  describe('whatever is wrong with it', () => {
    let outcomes: readonly Outcome[];
    beforeAll(async () => {
      outcomes = await outcomesOf(
        [...wrongLines, ...linesWithSecrets].map(([line]) => line),
        { cwd: home, env: environment },
      );
    });
    const outcomeOf = (line: readonly string[]): Outcome | undefined =>
      outcomes.find((outcome) => JSON.stringify(outcome.line) === JSON.stringify(line));

    test.each(wrongLines)('%j', (line, sentence) => {
      expect(outcomeOf(line)).toMatchObject({
        said: expect.stringContaining(sentence) as string,
        exitCode: 2,
      });
    });

    test.each(linesWithSecrets)(
      'and does not repeat a secret that stands in the wrong place: %j',
      (line, sentence) => {
        const outcome = outcomeOf(line);
        expect(outcome?.said).toContain(sentence);
        expect(outcome?.said).not.toMatch(/planted|cGxhbnRlZA/i);
        expect(outcome?.exitCode).toBe(2);
      },
    );
  });

  // How `main` presents such an end to a user.
  test.each([wrongLines[0]!, linesWithSecrets[0]!])('in a process of its own: %j', async (line, sentence) => {
    const { code, stdout, stderr } = await daybook(line);
    expect(stderr).toContain(sentence);
    expect(stdout + stderr).not.toMatch(/planted/i);
    expect(code).toBe(2);
  });

  test('a Temporal namespace without a Temporal address is refused', async () => {
    const env = { TEMPORAL_ADDRESS: '', TEMPORAL_NAMESPACE: 'production' };
    const { code, stderr } = await daybook(['status'], { env });
    expect(stderr).toContain('TEMPORAL_ADDRESS is required with TEMPORAL_NAMESPACE.');
    expect(code).toBe(2);
  });

  test('doctor reports a wrong configuration once, and creates no folder', async () => {
    const { code, stdout } = await daybook(['doctor'], { env: { DAYBOOK_LOKBACK: '1m' } });
    expect(stdout.match(/DAYBOOK_LOKBACK is not a variable of Daybook/g)).toHaveLength(1);
    expect(stdout).not.toContain('disk');
    expect(code).toBe(2);
  });

  test.each(['user:planted-password@temporal:7233', 'https://user:planted-password@temporal:7233'])(
    'an invalid Temporal address is refused without repeating its password: %s',
    async (address) => {
      for (const args of [['status'], ['doctor']]) {
        const { stdout, stderr } = await daybook(args, { env: { TEMPORAL_ADDRESS: address } });
        expect(stdout + stderr).toContain('TEMPORAL_ADDRESS must be HOST:PORT');
        expect(stdout + stderr).not.toContain('planted');
      }
    },
  );

  test('up does not write sandbox data into an external database unasked', async () => {
    const { code, stderr } = await daybook(['up'], { env: { DAYBOOK_API_URL: '' } });
    expect(stderr).toContain('up --sandbox');
    expect(code).toBe(2);
  });
});

proofTest('a connection is added, listed and removed, and its token is never printed', async () => {
  const adding = ['connection', 'add', 'acme-us', '--no-schedule', '--token-env', 'TOKEN'];
  const added = await daybook(adding, { env: { TOKEN: 'planted-token' } });
  expect(added.code).toBe(0);
  const again = await daybook(['connection', 'add', 'acme-us', '--token-stdin'], { input: 'planted-token' });
  expect(again.code).toBe(1);
  expect(again.stderr).toContain('There is a connection acme-us already');
  const listed = await daybook(['connection', 'list', '--json']);
  expect(JSON.parse(listed.stdout)).toContainEqual(
    expect.objectContaining({ connection_id: 'acme-us', api_address: 'http://127.0.0.1:9/versioned' }),
  );
  const status = await daybook(['status', 'acme-us', '--json']);
  const { connections, database: shown } = JSON.parse(status.stdout) as {
    connections: { connection_id: string; name: string; streams: { state: string }[] }[];
    database: { url: string };
  };
  expect(connections[0]).toMatchObject({ connection_id: 'acme-us', name: 'acme-us' });
  expect(connections[0]?.streams.map(({ state }) => state)).toEqual(Array(8).fill('never'));
  expect(shown.url).not.toContain(new URL(database.url).password);
  const removed = await daybook(['connection', 'remove', 'acme-us']);
  expect(removed.code).toBe(0);
  const missing = await daybook(['connection', 'remove', 'acme-us']);
  expect(missing.code).toBe(1);
  const printed = [added, again, listed, status, removed, missing]
    .map(({ stdout, stderr }) => stdout + stderr)
    .join('');
  expect(printed).not.toContain('planted-token');
});

test.each(['status', 'runs', 'discrepancies'])('%s of an unknown connection says so', async (command) => {
  const { code, stderr } = await daybook([command, 'acme-uz']);
  expect(stderr).toContain('There is no connection acme-uz.');
  expect(code).toBe(1);
});

test('a command whose servers are neither configured nor started exits with 2', async () => {
  const env = { DATABASE_URL: '', DAYBOOK_SECRET_KEY: '' };
  const { code, stderr } = await daybook(['migrate'], { env });
  expect(stderr).toContain('set DATABASE_URL');
  expect(code).toBe(2);
});

describe('sql', () => {
  test('prints decimals with all their digits', async () => {
    const { stdout } = await daybook([
      'sql',
      'select 123456789012345678.10::numeric as due, 2 as n, null as x',
      '--json',
    ]);
    expect(JSON.parse(stdout)).toEqual([{ due: '123456789012345678.10', n: 2, x: null }]);
  });

  test('takes a query that begins with a comment', async () => {
    for (const comment of ['-- how many', '--owner=finance', '--']) {
      const { stdout } = await daybook(['sql', `${comment}\nselect 2 as n`, '--json']);
      expect(JSON.parse(stdout)).toEqual([{ n: 2 }]);
    }
  });

  test('with --json refuses two columns of the same name, because it would show only one', async () => {
    const { code, stdout, stderr } = await daybook(['sql', 'select 1 as id, 2 as id, 3 as n', '--json']);
    expect({ stdout, stderr }).toEqual({
      stdout: '',
      stderr:
        'Two columns are called "id", and a JSON object has one: rename one with "as", like id as id_2.\n',
    });
    expect(code).toBe(2);
  });

  test('with --csv prints what COPY of Postgres reads back', async () => {
    const table = `(values (1, 'one'), (2, E'a,"b"\r\nc'), (3, null), (4, ''), (5, '\\.'), (null, 'x')) as v(n, t)`;
    const { stdout } = await daybook(['sql', `select * from ${table}`, '--csv']);
    expect(stdout.startsWith('n,t\n1,one\n2,"a,""b""\r\nc"\n')).toBe(true);
    const client = await database.warehouse.pool.connect();
    try {
      await client.query('create temporary table copied (n int, t text)');
      await pipeline(
        Readable.from(stdout),
        client.query(from('copy copied from stdin (format csv, header)')),
      );
      const missing = `(select * from ${table} except all table copied) union all (table copied except all select * from ${table})`;
      expect((await client.query(missing)).rows).toEqual([]);
      expect((await client.query('select from copied')).rowCount).toBe(6);
    } finally {
      client.release(true);
    }
  });

  test.each([
    ['a write', 'delete from finance.bills', 'read-only transaction: this command only reads.'],
    ['a second statement', 'select 1; select 2', 'multiple commands'],
    [
      'the sealed tokens',
      'select * from sync.connections',
      'readers see the schemas finance, marts and iceberg',
    ],
    ['the history itself', 'select * from history.record_versions', 'permission denied'],
  ])('refuses %s', async (_, statement, sentence) => {
    const { code, stderr } = await daybook(['sql', statement]);
    expect(stderr).toContain(sentence);
    expect(code).toBe(1);
  });
});

test('up with another key does not migrate a warehouse that already has a key', async () => {
  const last = Object.keys(migrations).at(-1);
  const older = await createTestDatabase();
  await checkSecretKey(older.warehouse, Buffer.alloc(32, 7));
  await older.warehouse.pool.query('delete from sync.migrations where name = $1', [last]);
  const { code, stderr } = await daybook(['up'], {
    env: { DATABASE_URL: older.url, DAYBOOK_SECRET_KEY: Buffer.alloc(32, 8).toString('base64') },
  });
  expect(stderr).toContain('DAYBOOK_SECRET_KEY is not the key');
  expect(code).toBe(2);
  await expect(checkSchema(older.warehouse)).rejects.toThrow(`missing: ${last ?? ''}`);
});

test('a snapshot that exists in part, or that the pointer names, is reported as damaged and not as unknown', async () => {
  const lake = path.join(home, 'damaged');
  const [left, latest] = ['20250101T000000Z-00aa11', '20250102T000000Z-22bb33'];
  mkdirSync(path.join(lake, 'snapshots', left, 'bills'), { recursive: true });
  writeFileSync(path.join(lake, 'snapshots', left, 'bills', 'part-00000.parquet'), '');
  writeFileSync(path.join(lake, 'latest.json'), JSON.stringify({ snapshot_id: latest }));
  for (const id of [left, latest]) {
    const { code, stdout } = await daybook(['snapshots', 'verify', id], { env: { DAYBOOK_LAKE: lake } });
    expect(stdout).toContain(`Snapshot ${id} is damaged:\n- ${id} has no _manifest.json`);
    expect(code).toBe(1);
  }
});

// Each of these waits for a Temporal that does not exist.
test.concurrent('a secret key other than the first one exits with 2', async () => {
  await daybook(['connection', 'add', 'keyed', '--no-schedule', '--token-stdin'], { input: 'some-token' });
  const other = { DAYBOOK_SECRET_KEY: Buffer.alloc(32, 8).toString('base64') };
  const { code, stderr } = await daybook(['connection', 'set-token', 'keyed', '--token-stdin'], {
    env: other,
    input: 'x',
  });
  expect(stderr).toContain('DAYBOOK_SECRET_KEY is not the key');
  expect(code).toBe(2);
});

test.concurrent.each([['runs'], ['discrepancies'], ['quarantine', 'list']])(
  '%s refuses --limit 0, which would hide existing entries',
  async (...command) => {
    const { code, stderr } = await daybook([...command, '--limit', '0']);
    expect(stderr).toContain('whole number from 1');
    expect(code).toBe(2);
  },
);

test.concurrent('a sync says in one sentence that Temporal does not answer', async () => {
  await daybook(['connection', 'add', 'acme-eu', '--no-schedule', '--token-stdin'], { input: 'token' });
  const { code, stderr } = await daybook(['sync', 'acme-eu']);
  expect(stderr).toContain('Temporal does not answer at 127.0.0.1:9');
  expect(code).toBe(1);
});

test.concurrent(
  'doctor reports each check on its own: a reachable database passes, an unreachable Temporal fails',
  async () => {
    const { code, stdout } = await daybook(['doctor', '--json']);
    const findings = JSON.parse(stdout) as { what: string; ok: boolean; found: string }[];
    expect(findings.find(({ what }) => what === 'database')).toMatchObject({ ok: true });
    expect(findings.find(({ what }) => what === 'Temporal')).toMatchObject({ ok: false });
    expect(code).toBe(1);
  },
);

test('a Postgres that accepts connections but never answers is reported in one sentence', async () => {
  const silent = createServer(() => undefined).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const port = String((silent.address() as AddressInfo).port);
  const { code, stderr } = await daybook(['status'], {
    env: { DATABASE_URL: `postgres://x@127.0.0.1:${port}/x` },
  });
  silent.close();
  expect(stderr).toBe(
    'The database does not answer (no connection): check DATABASE_URL, or start "npx daybook up" if it is the embedded one.\n',
  );
  expect(code).toBe(1);
});

test('discrepancies lists those that wait for approval first, and says that there are more', async () => {
  await daybook(['connection', 'add', 'compared', '--no-schedule', '--token-stdin'], { input: 'token' });
  await database.warehouse.pool.query(
    `insert into sync.discrepancies (connection_id, resource, record_id, kind, status, run_id, found_at, closed_at, shown_hash)
     select 'compared', 'bills', 'repaired-' || n, 'stale', 'repaired', 'r', now() - n * interval '1 minute', now(), '\\xab01'::bytea
     from generate_series(1, 100) n
     union all
     select 'compared', 'bills', 'waiting', 'extra', 'confirmed', 'r', now() - interval '1 day', null, null::bytea`,
  );
  const shown = await daybook(['discrepancies', 'compared']);
  expect(shown.stdout.split('\n')[1]).toMatch(/ waiting +extra +waits for approval$/);
  expect(shown.stdout.trimEnd().split('\n')).toHaveLength(101);
  expect(shown.stderr).toBe(
    'Showing 100 differences, those that wait for approval first; "--limit N" shows more.\n',
  );
  const few = await daybook(['discrepancies', 'compared', '--limit', '2', '--json']);
  expect(JSON.parse(few.stdout)).toMatchObject([
    { record_id: 'waiting', shown_hash: null },
    { record_id: 'repaired-1', shown_hash: 'ab01' },
  ]);
  expect(few.stderr).toContain('Showing 2 differences');
  const all = await daybook(['discrepancies', 'compared', '--limit', '101', '--json']);
  expect(JSON.parse(all.stdout)).toHaveLength(101);
  expect(all.stderr).toBe('');
});

test('an unreachable database is reported in one sentence, without a stack', async () => {
  const { code, stderr } = await daybook(['status'], { env: { DATABASE_URL: 'postgres://x@127.0.0.1:9/x' } });
  expect(stderr.trim().split('\n')).toHaveLength(1);
  expect(stderr).toContain('check DATABASE_URL');
  expect(code).toBe(1);
});
