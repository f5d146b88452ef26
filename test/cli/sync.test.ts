import { afterEach, expect, test } from 'vitest';
import type { RunRead } from '../../warehouse/runs/read-run.ts';
import { startDaybook } from '../support/daybook-process.ts';
import { bill } from '../support/finance-records.ts';
import { createInstallation } from '../support/installation.ts';
import { untilPages } from '../support/sync-progress.ts';
import { proofTest } from '../support/proof-test.ts';

const installation = await createInstallation({ env: { DAYBOOK_GIVE_UP_AFTER: '1s' } });
const { admin } = installation;
const worker = await installation.startWorker();

afterEach(async () => {
  await admin.clearFaults();
  await admin.configure({});
});

test('a sync that succeeds exits with 0 and reports its streams, even if the platform lacks one', async () => {
  const connection = await installation.connect({ platform: 'XERO' });
  const { code, stdout } = await installation.run(['sync', connection]);
  expect(code).toBe(0);
  expect(stdout).toContain(`Sync of ${connection} succeeded`);
  expect(stdout).toMatch(/bills .*\d/);
});

test('a sync that fails exits with 1 and one sentence that says what to do', async () => {
  const connection = await installation.connect({ token: 'nobody-has-this-token' });
  const { code, stdout, stderr } = await installation.run(['sync', connection]);
  expect(code).toBe(1);
  expect(stdout).toMatch(/was refused for its credentials .*connection set-token/);
  expect(stdout + stderr).not.toContain('nobody-has-this-token');
  expect(stdout + stderr).not.toMatch(/^\s+at /m);
});

test('a sync that quarantines a record exits with 3, and the entry can be listed and shown', async () => {
  const connection = await installation.connect();
  const record = bill('bad', { memo: '["a list"]' });
  await admin.execute({ kind: 'add', connection, resource: 'bills', record });
  const { code, stdout } = await installation.run(['sync', connection]);
  expect(code).toBe(3);
  expect(stdout).toContain('1 record is in quarantine');
  const listed = await installation.run(['quarantine', 'list', '--json']);
  const entries = JSON.parse(listed.stdout) as { id: number; connection_id: string }[];
  const entry = entries.find(({ connection_id }) => connection_id === connection);
  expect(entry).toMatchObject({
    connection_id: connection,
    resource: 'bills',
    record_id: 'bad',
    status: 'open',
    reason: expect.stringContaining('memo is a list, not a text') as string,
  });
  const showed = await installation.run(['quarantine', 'show', String(entry?.id)]);
  expect(showed.code).toBe(0);
  expect(showed.stdout).toContain('["a list"]');
});

proofTest('a sync with one failed stream exits with 3 and names the stream', async () => {
  const connection = await installation.connect();
  await admin.addFault({
    match: { connection, path: '/accounting/items' },
    fault: { kind: 'status', status: 500 },
  });
  const { code, stdout } = await installation.run(['sync', connection]);
  expect(code).toBe(3);
  expect(stdout).toMatch(/Reading items failed for/);
});

test('a sync of an unknown connection exits with 1 and says how to list connections', async () => {
  const { code, stderr } = await installation.run(['sync', 'nobody']);
  expect(code).toBe(1);
  expect(stderr).toBe('There is no connection nobody. "daybook connection list" lists them.\n');
});

test('a sync of one resource reads only its streams and the events', async () => {
  const connection = await installation.connect();
  const { code, stdout } = await installation.run(['sync', connection, '--resource', 'expenses', '--json']);
  expect(code).toBe(0);
  const { streams } = JSON.parse(stdout) as RunRead;
  expect(streams.map(({ stream }) => stream)).toEqual(['expenses', 'refunds', 'events']);
});

test('a second sync joins the running one, which shows its progress', async () => {
  const connection = await installation.connect();
  await admin.configure({ maximumLimit: 1 });
  await admin.addFault({
    match: { connection, path: '/accounting/bills' },
    fault: { kind: 'slow', ms: 500 },
  });
  const { cwd, env } = installation;
  const first = startDaybook(['sync', connection], { cwd, env });
  await untilPages(installation, { connection, pages: 1 });
  const second = startDaybook(['sync', connection], { cwd, env });
  await second.waitForOutput(/Joined the run at/);
  await first.waitForOutput(/\d+ records, \d+\/s; reading bills/);
  const detached = await installation.run(['sync', connection, '--no-wait', '--json']);
  expect(JSON.parse(detached.stdout)).toMatchObject({ joined: true, workflowId: `sync/${connection}` });
  await admin.configure({});
  await admin.clearFaults();
  expect([(await first.ended).code, (await second.ended).code]).toEqual([0, 0]);
  const { stdout } = await installation.run(['runs', connection, '--json']);
  expect(JSON.parse(stdout)).toHaveLength(1);
});

proofTest('a full sync that joins a sync of one resource is followed by a full sync', async () => {
  const connection = await installation.connect();
  await admin.configure({ maximumLimit: 1 });
  await admin.addFault({
    match: { connection, path: '/accounting/items' },
    fault: { kind: 'slow', ms: 500 },
  });
  const { cwd, env } = installation;
  const first = startDaybook(['sync', connection, '--resource', 'items'], { cwd, env });
  await untilPages(installation, { connection, stream: 'items', pages: 1 });
  const second = startDaybook(['sync', connection], { cwd, env });
  await second.waitForOutput(/Joined the run at/);
  await admin.configure({ maximumLimit: 100 });
  await admin.clearFaults();
  expect((await first.ended).code).toBe(0);
  const { code, stderr } = await second.ended;
  expect(code).toBe(0);
  expect(stderr).toContain(
    'That run covered only some resources; starting another for all that you asked for.',
  );
  expect((await installation.compare(connection)).differences).toEqual([]);
});

test('a full sync that joins two partial syncs in a row is followed by a full sync after both', async () => {
  const connection = await installation.connect({ ready: false });
  const ofItems = {
    workflowId: `sync/${connection}`,
    taskQueue: 'daybook',
    args: [{ connection, resources: ['items'], reason: 'test' }],
    workflowIdConflictPolicy: 'TERMINATE_EXISTING' as const,
  };
  await installation.client.workflow.start('syncConnection', ofItems);
  const { cwd, env } = installation;
  const asked = startDaybook(['sync', connection], { cwd, env });
  await asked.waitForOutput(/Joined the run at/);
  // The next run takes its place at once.
  await installation.client.workflow.start('syncConnection', ofItems);
  await asked.waitForOutput(/Joined the run at[^]+Joined the run at/);
  await admin.execute({ kind: 'make-ready', connection });
  const { code, stderr } = await asked.ended;
  expect(stderr.match(/That run covered only some resources/g)).toHaveLength(2);
  expect(code).toBe(0);
  expect((await installation.compare(connection)).differences).toEqual([]);
});

proofTest('Ctrl-C while following a sync leaves the run running', async () => {
  const connection = await installation.connect();
  await admin.configure({ maximumLimit: 5 });
  await admin.addFault({
    match: { connection, path: '/accounting/bills' },
    fault: { kind: 'slow', ms: 200 },
  });
  const { cwd, env } = installation;
  const following = startDaybook(['sync', connection], { cwd, env });
  await untilPages(installation, { connection, pages: 1 });
  await following.stop('SIGINT');
  await admin.clearFaults();
  await installation.client.workflow.getHandle(`sync/${connection}`).result();
  expect((await installation.compare(connection)).differences).toEqual([]);
});

test('runs and status agree on the last run, in the shapes that scripts read', async () => {
  const connection = await installation.connect();
  await installation.run(['sync', connection]);
  const [runs, status, table] = await Promise.all([
    installation.run(['runs', connection, '--json']),
    installation.run(['status', connection, '--json']),
    installation.run(['status', connection]),
  ]);
  const [run] = JSON.parse(runs.stdout) as RunRead[];
  expect(run).toMatchObject({ connection_id: connection, kind: 'sync', status: 'succeeded', failure: null });
  expect(Object.keys(run?.streams[0] ?? {})).toEqual(
    expect.arrayContaining(['pages', 'requests', 'read', 'inserted', 'updated', 'unchanged', 'quarantined']),
  );
  expect(JSON.parse(status.stdout)).toMatchObject({
    temporal: { address: expect.any(String) as string },
    database: { url: expect.stringMatching(/^postgres/) as string },
    connections: [
      {
        name: connection,
        platform: 'QUICKBOOKS',
        last_run: { run_id: run?.run_id, status: 'succeeded' },
        quarantined: 0,
        streams: expect.arrayContaining([
          expect.objectContaining({
            stream: 'bills',
            state: 'complete',
            watermark: expect.any(String) as string,
          }),
        ]) as unknown,
      },
    ],
  });
  expect(status.stdout).not.toContain(new URL(installation.databaseUrl).password);
  expect(table.stdout).toContain(`${connection} (QUICKBOOKS) · last sync succeeded`);
});

test('doctor finds no fault in a working installation, and reports a connection that the API refuses', async () => {
  const healthy = await installation.run(['doctor']);
  const broken = (healthy.stdout.match(/^✗ .*$/gm) ?? []).filter(
    (line) => !line.includes('nobody-has-this-token'),
  );
  expect(broken.filter((line) => !line.startsWith('✗ API'))).toEqual([]);
  const connection = await installation.connect({ token: 'refused-token' });
  const { code, stdout } = await installation.run(['doctor', '--json']);
  expect(code).toBe(1);
  const findings = JSON.parse(stdout) as { what: string; ok: boolean; found: string }[];
  expect(findings.filter(({ ok }) => !ok).map(({ what }) => what)).toEqual(['API']);
  expect(findings.find(({ what }) => what === 'worker')?.ok).toBe(true);
  expect(stdout).not.toContain('refused-token');
  expect(connection).not.toBe('');
});

test('set-token replaces a token without printing it', async () => {
  const connection = await installation.connect({ token: 'wrong-token' });
  const { code, stdout, stderr } = await installation.run(
    ['connection', 'set-token', connection, '--token-stdin'],
    {
      input: `token-of-${connection}\n`,
    },
  );
  expect(code).toBe(0);
  expect(stdout + stderr).not.toContain('token-of-');
  expect((await installation.run(['sync', connection])).code).toBe(0);
});

proofTest('a connection can be removed with its records or without them', async () => {
  const [all, kept] = [await installation.connect(), await installation.connect()];
  await installation.run(['sync', all]);
  await installation.run(['sync', kept]);
  expect((await installation.run(['connection', 'remove', all])).code).toBe(0);
  expect((await installation.run(['connection', 'remove', kept, '--keep-data'])).code).toBe(0);
  const { rows } = await installation.warehouse.pool.query(
    'select distinct connection_id from finance.bills where connection_id = any($1)',
    [[all, kept]],
  );
  expect(rows).toEqual([{ connection_id: kept }]);
});

test('a worker exits with 0 on SIGTERM', async () => {
  expect((await worker.stop('SIGTERM')).code).toBe(0);
});
