import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { judgeAlerts } from '../../warehouse/alerts/judge-alerts.ts';
import { readOpenAlerts } from '../../warehouse/alerts/read-alerts.ts';
import { areMartsCurrent } from '../../warehouse/marts/are-marts-current.ts';
import { noteMarts } from '../../warehouse/marts/note-marts.ts';
import { readMartsStatus } from '../../warehouse/marts/read-marts-status.ts';
import { pruneWarehouse } from '../../warehouse/retention/prune-warehouse.ts';
import { beginRunOfAll } from '../../warehouse/runs/begin-run-of-all.ts';
import { finishRunOfAll } from '../../warehouse/runs/finish-run-of-all.ts';
import type { MartsTarget } from '../../warehouse/tables/marts.ts';
import { shareConnections } from '../../worker/share-connections.ts';
import { row, rows } from '../support/rows.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse } = await createTestDatabase();
const today = '2026-11-21';

beforeEach(async () => {
  await warehouse.pool.query('delete from sync.runs; delete from sync.alerts; delete from sync.marts');
});

describe('alerts', () => {
  test('open for a failed export, stay after a cancelled one, and close after a successful one', async () => {
    await end(await begin('export', null), 'failed', 'DiskFull: make room.');
    expect(await alerts()).toMatchObject([
      {
        kind: 'export',
        connection_id: null,
        message: expect.stringMatching(/^The last export failed at 20.*: DiskFull: make room\.$/) as string,
        remedy: expect.stringContaining('"daybook export"') as string,
      },
    ]);
    await end(await begin('export', null), 'cancelled');
    expect(await alerts()).toHaveLength(1);
    await end(await begin('export', null), 'succeeded');
    expect(await alerts()).toEqual([]);
  });

  test('open for skipped marts only if there are marts, which grow old', async () => {
    await end(await begin('marts', 'lake'), 'unsupported', null, 'The marts were skipped.');
    expect(await alerts()).toEqual([]);
    await build('lake');
    await end(await begin('marts', 'lake'), 'unsupported', null, 'The marts were skipped.');
    expect(await alerts()).toMatchObject([
      {
        kind: 'marts',
        message: expect.stringContaining(`The marts were skipped. Readers see those of ${today}.`) as string,
      },
    ]);
    await build('lake');
    expect(await alerts()).toEqual([]);
  });
});

test('a new build marks an unfinished build of the same target as interrupted', async () => {
  const first = await begin('marts', 'postgres');
  const other = await begin('marts', 'lake');
  await begin('marts', 'postgres');
  expect(await statusOf(first)).toBe('interrupted');
  expect(await statusOf(other)).toBe('running');
});

test('marts are current while they are of the day and of the latest snapshot, and the last build was good', async () => {
  const { now } = await row(warehouse, 'select clock_timestamp()::text as now');
  const latest = { asOfDate: today, snapshotId: 'S2', takenAt: String(now) };
  expect(await areMartsCurrent(warehouse, latest)).toBe(false);
  await build('postgres');
  await build('lake', 'S1');
  expect(await areMartsCurrent(warehouse, latest)).toBe(false);
  await build('lake', 'S2');
  expect(await areMartsCurrent(warehouse, latest)).toBe(true);
  expect(await areMartsCurrent(warehouse, { ...latest, asOfDate: '2026-11-22' })).toBe(false);
  const { later } = await row(warehouse, 'select clock_timestamp()::text as later');
  expect(await areMartsCurrent(warehouse, { ...latest, takenAt: String(later) })).toBe(false);
  await end(await begin('marts', 'postgres'), 'failed', 'A test failed.');
  expect(await areMartsCurrent(warehouse, latest)).toBe(false);
});

test('pruning keeps the newest build of each target', async () => {
  for (const target of ['postgres', 'postgres', 'lake'] as const) await build(target);
  await warehouse.pool.query(
    `update sync.runs set finished_at = finished_at - interval '200 days', started_at = started_at - interval '200 days'`,
  );
  await pruneWarehouse(warehouse, {
    keep: { runsMilliseconds: 90 * 86_400_000, historyMilliseconds: null },
    dryRun: false,
  });
  expect(await rows(warehouse, 'select target from sync.runs order by 1')).toEqual([
    { target: 'lake' },
    { target: 'postgres' },
  ]);
  expect(await readMartsStatus(warehouse)).toMatchObject({
    postgres: { status: 'succeeded', as_of_date: today, marts: 24 },
    lake: { status: 'succeeded', as_of_date: today, snapshot_id: 'S1' },
  });
});

test('the shares of a process’s connections never exceed its limit, for limits from 5 to 40', () => {
  for (let connections = 5; connections <= 40; connections += 1) {
    const shares = shareConnections({ connections });
    const lockOfBuild = 1;
    expect(shares.pool + shares.export + shares.dbt + lockOfBuild).toBeLessThanOrEqual(connections);
  }
});

async function begin(kind: 'export' | 'marts', target: MartsTarget | null): Promise<string> {
  const runId = randomUUID();
  await beginRunOfAll(warehouse, {
    runId,
    kind,
    target,
    workflowId: kind,
    temporalRunId: runId,
    reason: 'test',
  });
  return runId;
}

function end(
  runId: string,
  status: Parameters<typeof finishRunOfAll>[1]['status'],
  failure: string | null = null,
  outcome: string | null = null,
): Promise<void> {
  return finishRunOfAll(warehouse, { runId, status, failure, outcome });
}

async function build(target: MartsTarget, snapshot = 'S1'): Promise<void> {
  const runId = await begin('marts', target);
  const snapshotId = target === 'lake' ? snapshot : null;
  await noteMarts(warehouse, { runId, target, asOfDate: today, snapshotId, marts: 24, outcome: 'Built.' });
}

async function alerts(): Promise<unknown[]> {
  await judgeAlerts(warehouse, { pausedElsewhere: [] });
  return readOpenAlerts(warehouse);
}

async function statusOf(runId: string): Promise<unknown> {
  return (await row(warehouse, 'select status from sync.runs where run_id = $1', [runId])).status;
}
