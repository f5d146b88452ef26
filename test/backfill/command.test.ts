import { ScheduleNotFoundError } from '@temporalio/client';
import { afterEach, expect, test } from 'vitest';
import type { RunRead } from '../../warehouse/runs/read-run.ts';
import { eventually } from '../support/eventually.ts';
import { startDaybook } from '../support/daybook-process.ts';
import { bill } from '../support/finance-records.ts';
import { createInstallation } from '../support/installation.ts';
import { proofTest, some } from '../support/proof-test.ts';
import { row, rows } from '../support/rows.ts';

const installation = await createInstallation({ commandsInOneProcess: true });
const { admin, warehouse } = installation;
await installation.startWorker();

const spring = ['--from', '2011-03-01', '--to', '2011-06-01'];

afterEach(async () => {
  await admin.clearFaults();
});

test('a dry run prints what would be read, as text and JSON, and changes nothing', async () => {
  const connection = await installation.connect({ platform: 'XERO' });
  await installation.run(['sync', connection]);
  await admin.clearRequests();
  const [people, scripts] = await Promise.all([
    installation.run(['backfill', connection, ...spring, '--dry-run']),
    installation.run([
      'backfill',
      connection,
      ...spring,
      '--window',
      '7d',
      '--resource',
      'bills',
      '--dry-run',
      '--json',
    ]),
  ]);
  expect([people.code, scripts.code]).toEqual([0, 0]);
  expect(people.stdout).toMatch(/^bills +4 +4$/m);
  expect(people.stdout).toMatch(/About \d+ requests, an estimate from what the warehouse holds/);
  expect(people.stdout).toMatch(/Left out, .*subscriptions/);
  expect(people.stdout).toMatch(/without updated_at are in no window: "daybook reconcile"/);
  expect(JSON.parse(scripts.stdout)).toEqual({
    connection_id: connection,
    from: '2011-03-01T00:00:00.000Z',
    to: '2011-06-01T00:00:00.000Z',
    window_seconds: 604_800,
    resumes: false,
    streams: [{ stream: 'bills', windows: 14, requests: 14 }],
    unsupported: [],
    requests: 14,
  });
  expect(await admin.requests()).toEqual([]);
  expect(await rows(warehouse, 'select from sync.passes where connection_id = $1', [connection])).toEqual([]);
  const { stdout } = await installation.run(['runs', connection, '--json']);
  expect((JSON.parse(stdout) as RunRead[]).map(({ kind }) => kind)).toEqual(['sync']);
});

test('a complete backfill exits with 0 and prints what it did', async () => {
  const connection = await installation.connect();
  const { code, stdout } = await installation.run(['backfill', connection, ...spring]);
  expect(code).toBe(0);
  expect(stdout).toContain(`Backfill of ${connection} succeeded`);
  expect(stdout).toMatch(/^bills +complete +4 /m);
  const { stdout: json } = await installation.run(['runs', connection, '--json']);
  expect(JSON.parse(json)).toMatchObject([
    { kind: 'backfill', status: 'succeeded', workflow_id: `backfill/${connection}/2011-03-01_2011-06-01` },
  ]);
});

proofTest('a backfill that quarantined a record exits with 3', async () => {
  const connection = await installation.connect();
  const record = bill('bad', { memo: '["a list"]', updated_at: '"2011-04-01T00:00:00Z"' });
  await admin.execute({ kind: 'add', connection, resource: 'bills', record });
  const { code, stdout } = await installation.run([
    'backfill',
    connection,
    ...spring,
    '--resource',
    'bills',
    '--json',
  ]);
  expect(code).toBe(3);
  expect(JSON.parse(stdout)).toMatchObject({ kind: 'backfill', status: 'partial' });
});

proofTest('a second backfill of the same time joins the running one', async () => {
  const connection = await installation.connect();
  await admin.addFault({
    match: { connection, path: '/accounting/bills' },
    fault: { kind: 'status', status: 503 },
  });
  const { cwd, env } = installation;
  const first = startDaybook(['backfill', connection, ...spring], { cwd, env });
  await first.waitForOutput(/Running/);
  const second = startDaybook(['backfill', connection, ...spring], { cwd, env });
  await second.waitForOutput(/Joined the run at/);
  await admin.clearFaults();
  expect([(await first.ended).code, (await second.ended).code]).toEqual([0, 0]);
  const { stdout } = await installation.run(['runs', connection, '--json']);
  expect(JSON.parse(stdout)).toHaveLength(1);
});

test.each(
  some([
    ['no time', [], /Give a period: --from/],
    ['half a time', ['--from', '2024-01-01'], /Give a period: --from/],
    ['an impossible day', ['--from', '2024-02-30', '--to', '2024-03-01'], /"2024-02-30" cannot be the from/],
    ['the wrong order', ['--from', '2024-03-01', '--to', '2024-02-01'], /from must lie before to/],
    [
      'no window',
      [...spring, '--window', 'week'],
      /'--window <duration>' argument 'week' is invalid\. It must be a duration from 1h to 36525d, like 7d\./,
    ],
    ['no resource', [...spring, '--resource', 'invoices'], /no resource invoices/],
    ['a schedule of a fixed time', [...spring, '--every', '7d'], /--last and --every only/],
    ['half a schedule', ['--every', '7d'], /takes both/],
    [
      'a schedule without an end',
      ['--last', 'forever', '--every', '7d'],
      /'--last <duration>' argument 'forever' is invalid\. It must be a duration from 1h to 3650d, like 7d\./,
    ],
  ]),
)('%s: exit code 2 with a message that says what to write', async (_, args, sentence) => {
  const { code, stderr } = await installation.run(['backfill', 'nobody', ...args]);
  expect(code).toBe(2);
  expect(stderr).toMatch(sentence);
});

proofTest('a backfill of an unknown connection exits with 1', async () => {
  const results = await Promise.all([
    installation.run(['backfill', 'nobody', ...spring]),
    installation.run(['backfill', 'nobody', ...spring, '--dry-run']),
    installation.run(['backfill', 'nobody', '--last', '90d', '--every', '7d']),
  ]);
  expect(results.map(({ code }) => code)).toEqual([1, 1, 1]);
  for (const { stderr } of results) expect(stderr).toMatch(/There is no connection nobody/);
});

test('a scheduled backfill gets a Temporal schedule that rereads the last days, until "off" deletes it', async () => {
  const connection = await installation.connect();
  const schedule = installation.client.schedule.getHandle(`backfill/${connection}`);
  const { code, stdout } = await installation.run(['backfill', connection, '--last', '90d', '--every', '7d']);
  expect(code).toBe(0);
  expect(stdout).toContain(`${connection}: the last 90d are reread every 7d.`);
  expect((await schedule.describe()).spec.intervals).toMatchObject([{ every: 7 * 86_400_000 }]);
  await schedule.trigger();
  const over = `select from sync.runs where connection_id = $1 and status <> 'running'`;
  await eventually(async () => ((await rows(warehouse, over, [connection])).length > 0 ? true : undefined));
  const { stdout: json } = await installation.run(['runs', connection, '--json']);
  expect((JSON.parse(json) as RunRead[])[0]).toMatchObject({
    kind: 'backfill',
    status: 'succeeded',
    reason: 'schedule',
  });
  const ended = await installation.run(['backfill', connection, '--last', '90d', '--every', 'off']);
  expect([ended.code, ended.stderr]).toEqual([0, '']);
  await expect(schedule.describe()).rejects.toThrow(ScheduleNotFoundError);
  const scripts = await installation.run([
    'backfill',
    connection,
    '--last',
    '90d',
    '--every',
    '7d',
    '--json',
  ]);
  expect(JSON.parse(scripts.stdout)).toEqual({ every_seconds: 7 * 86_400, last_seconds: 90 * 86_400 });
});

proofTest(
  'a backfill schedule is stored when Temporal is unreachable, with a message that it will be updated',
  async () => {
    const connection = await installation.connect();
    const { code, stderr } = await installation.run(
      ['backfill', connection, '--last', '90d', '--every', '7d'],
      {
        env: { TEMPORAL_ADDRESS: '127.0.0.1:1' },
      },
    );
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /Temporal cannot be reached; the schedules of .* will be updated when a worker starts/,
    );
    expect(
      await row(
        warehouse,
        `select extract(epoch from backfill_every)::integer as every, extract(epoch from backfill_last)::integer as last
       from sync.connections where connection_id = $1`,
        [connection],
      ),
    ).toEqual({ every: 7 * 86_400, last: 90 * 86_400 });
  },
);
