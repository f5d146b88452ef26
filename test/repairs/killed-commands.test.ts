import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { pino } from 'pino';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { watchAlerts } from '../../worker/alerts/watch-alerts.ts';
import type { DaybookProcess } from '../support/daybook-process.ts';
import { startDaybook } from '../support/daybook-process.ts';
import { blockWrites, waitingSessions } from '../support/blocked-session.ts';
import { eventually } from '../support/eventually.ts';
import { bill } from '../support/finance-records.ts';
import { createInstallation } from '../support/installation.ts';
import { land } from '../support/land.ts';
import { proofTest } from '../support/proof-test.ts';
import { row, rows } from '../support/rows.ts';

const installation = await createInstallation();
const { admin, cwd, databaseUrl, env, run, warehouse } = installation;

beforeEach(async () => {
  await admin.clearFaults();
  await warehouse.pool.query(`
    delete from sync.quarantine; delete from sync.runs; delete from sync.run_streams;
    delete from sync.settings where name = 'alerts_judged_at'`);
});

describe('a killed command leaves no run marked as running', () => {
  test('after a replay, which the next command marks as interrupted', async () => {
    const connection = await companyWithEntry();
    const replay = await hangingReplay(connection);
    await replay.stop('SIGKILL');
    await beSilent('replay');
    expect((await run(['rebuild', connection, '--resource', 'items'])).code).toBe(0);
    expect(await statusesOf(connection)).toEqual({ replay: 'interrupted', rebuild: 'succeeded' });
  });

  test('after a rebuild, which a watching worker marks as interrupted, with its streams', async () => {
    const connection = await companyWithEntry();
    const blocked = await blockWrites(databaseUrl, 'finance.items');
    const rebuild = start(['rebuild', connection]);
    await waitingSessions(databaseUrl);
    await rebuild.stop('SIGKILL');
    await blocked.letGo();
    await beSilent('rebuild');
    expect(await statusesOf(connection)).toEqual({ rebuild: 'running' });
    watch();
    await eventually(async () =>
      (await statusesOf(connection)).rebuild === 'interrupted' ? true : undefined,
    );
    expect(
      await rows(
        warehouse,
        `select distinct status from sync.run_streams where run_id in (
      select run_id from sync.runs where kind = 'rebuild')`,
      ),
    ).toEqual([{ status: 'interrupted' }]);
  });

  proofTest('from a release without heartbeats, for more than an hour', async () => {
    const connection = await companyWithEntry();
    await addRun({ connection, minutesAgo: 59, id: 'perhaps alive' });
    await addRun({ connection, minutesAgo: 61, id: 'dead' });
    await addRun({ connection, minutesAgo: 600, id: 'of a workflow', workflowId: `sync/${connection}` });
    expect((await run(['rebuild', connection, '--resource', 'items'])).code).toBe(0);
    expect(
      await rows(warehouse, `select run_id, status from sync.runs where kind = 'replay' order by 1`),
    ).toEqual([
      { run_id: 'dead', status: 'interrupted' },
      { run_id: 'of a workflow', status: 'running' },
      { run_id: 'perhaps alive', status: 'running' },
    ]);
  });
});

describe('a live command', () => {
  test('records heartbeats in Postgres, and neither a worker nor another command marks it as interrupted', async () => {
    const connection = await companyWithEntry();
    const replay = await hangingReplay(connection);
    const first = await beatOf('replay');
    await eventually(async () => ((await beatOf('replay')) > first ? true : undefined));
    watch();
    await admin.clearFaults();
    expect((await run(['quarantine', 'replay'])).code).toBe(0);
    expect(
      await rows(warehouse, `select status from sync.runs where kind = 'replay' order by started_at`),
    ).toEqual([{ status: 'running' }, { status: 'succeeded' }]);
    await replay.stop('SIGKILL');
  });

  proofTest('runs on and succeeds if it was marked as interrupted during a stall', async () => {
    const connection = await companyWithEntry();
    const blocked = await blockWrites(databaseUrl, 'finance.items');
    const rebuild = start(['rebuild', connection]);
    await waitingSessions(databaseUrl);
    await beSilent('rebuild');
    expect((await run(['quarantine', 'replay'])).code).toBe(0);
    await eventually(async () => ((await statusesOf(connection)).rebuild === 'running' ? true : undefined));
    await blocked.letGo();
    expect((await rebuild.ended).code).toBe(0);
    expect(await statusesOf(connection)).toEqual({ replay: 'succeeded', rebuild: 'succeeded' });
    const streams = `select distinct s.status from sync.run_streams s join sync.runs using (run_id) where kind = 'rebuild'`;
    expect(await row(warehouse, streams)).toEqual({ status: 'succeeded' });
  });
});

/** A connection with a bill in quarantine that the source has corrected. */
async function companyWithEntry(): Promise<string> {
  const connection = await installation.connect();
  await land(warehouse, {
    connectionId: connection,
    stream: 'bills',
    pages: [[bill('b', { memo: '7' }), bill('c')]],
  });
  await admin.execute({ kind: 'add', connection, resource: 'bills', record: bill('b') });
  await warehouse.pool.query('delete from sync.runs; delete from sync.run_streams');
  return connection;
}

/** Starts a replay that waits for the service, which does not answer. */
async function hangingReplay(connection: string): Promise<DaybookProcess> {
  await admin.clearRequests();
  await admin.addFault({ match: { connection }, fault: { kind: 'hang' } });
  const replay = start(['quarantine', 'replay']);
  await eventually(async () => ((await admin.requests()).length > 0 ? true : undefined));
  return replay;
}

function start(args: readonly string[]): DaybookProcess {
  return startDaybook(args, { cwd, env });
}

function watch(): void {
  const stopping = new AbortController();
  const temporal = new Client({ connection: Connection.lazy({ address: '127.0.0.1:1' }) });
  const logger = pino({ level: 'silent' });
  const places = { warehouse, temporal, url: undefined, version: '1.2.3' };
  const ended = watchAlerts(places, { logger, stopping: stopping.signal, everyMilliseconds: 100 });
  onTestFinished(async () => {
    stopping.abort();
    await ended;
  });
}

/** Moves the last heartbeat of runs back by two minutes. */
async function beSilent(kind: string): Promise<void> {
  await warehouse.pool.query(
    `update sync.runs set beat_at = beat_at - interval '2 minutes' where kind = $1 and status = 'running'`,
    [kind],
  );
}

async function beatOf(kind: string): Promise<string> {
  const { beat } = await row(warehouse, 'select beat_at::text as beat from sync.runs where kind = $1', [
    kind,
  ]);
  return String(beat);
}

async function statusesOf(connection: string): Promise<Record<string, unknown>> {
  const runs = await rows(
    warehouse,
    'select kind, status from sync.runs where connection_id = $1 order by started_at',
    [connection],
  );
  return Object.fromEntries(runs.map(({ kind, status }) => [String(kind), status]));
}

async function addRun(given: {
  connection: string;
  id: string;
  minutesAgo: number;
  workflowId?: string;
}): Promise<void> {
  const { connection, id, minutesAgo, workflowId = '' } = given;
  await warehouse.pool.query(
    `insert into sync.runs (run_id, connection_id, kind, status, workflow_id, temporal_run_id, reason, started_at)
     values ($1, $2, 'replay', 'running', $3, $4, 'test', now() - $5 * interval '1 minute')`,
    [id, connection, workflowId, randomUUID(), minutesAgo],
  );
}
