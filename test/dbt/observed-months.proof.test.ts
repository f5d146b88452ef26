import { readFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { manifestFile } from '../../lake/lake.ts';
import { manifestSchema, manifestText, sha256Of } from '../../lake/manifest/manifest.ts';
import { removeConnection } from '../../warehouse/connections/remove-connection.ts';
import { pruneWarehouse } from '../../warehouse/retention/prune-warehouse.ts';
import { createTestLake } from '../lake/create-test-lake.ts';
import { list, subscription } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { isProof, proofTest, some } from '../support/proof-test.ts';
import { rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { buildEnvironment } from './build-environment.ts';
import { martInPostgres, martOnLake, type MartRow } from './marts-of.ts';

// Each test builds all marts twice.
vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

const { warehouse, url } = await createTestDatabase();
const lake = await mkdtemp(join(tmpdir(), 'daybook-test-observed-'));
afterAll(() => rm(lake, { recursive: true, force: true }));
const { exportNow } = await createTestLake(url, { lake });
const { build } = await buildEnvironment({ databaseUrl: url, lake });
let connectionId: string;
let until: Awaited<ReturnType<typeof knownUntil>>;
const targets = ['postgres', 'lake'] as const;

/** Three months ago everything was read. Two months ago subscriptions failed while bills were read. Since then nothing has failed. */
const told = { 3: '10.000000000', 2: null, 1: '10.000000000', 0: '10.000000000' };

beforeAll(async () => {
  connectionId = await addTestConnection(warehouse);
  const items = list(
    `{"interval": "month", "interval_count": 1, "quantity": 1, "amount": 10, "unit_amount": 10}`,
  );
  const record = subscription('s', { status: '"active"', iso_currency_code: '"USD"', items });
  await land(warehouse, { connectionId, stream: 'subscriptions', pages: [[record]] });
  await warehouse.pool.query(`
    update history.record_versions set recorded_at = date_trunc('month', now() at time zone 'UTC') at time zone 'UTC' - interval '3 months' + interval '5 days';
    delete from sync.runs`);
  for (const [monthsAgo, subscriptions] of [
    [3, 'succeeded'],
    [2, 'failed'],
    [1, 'partial'],
    [0, 'succeeded'],
  ] as const)
    await addSync({ monthsAgo, subscriptions, isOnLastDay: monthsAgo === 1 });
});

test('a month in which subscriptions failed is not observed, although bills were read and the runs were partial', async () => {
  expect(await mrrByTarget(some(targets))).toEqual(
    isProof ? { postgres: told, lake: told } : { postgres: told },
  );
});

test('a month last read on its sixth day is shown as of that day, and is not complete', async () => {
  until = await knownUntil();
  const [third, second, first] = until;
  expect([third, second]).toEqual([
    { day: 5, isComplete: 'false' },
    { day: null, isComplete: 'false' },
  ]);
  expect(first?.day).toBeGreaterThan(26);
  expect(until.map(({ isComplete }) => isComplete)).toEqual(['false', 'false', 'true', 'false']);
});

proofTest(
  'observed months stay known after the runs are pruned, and unobserved months stay unobserved',
  async () => {
    const keep = { runsMilliseconds: 1, historyMilliseconds: null };
    expect(await pruneWarehouse(warehouse, { keep, dryRun: false })).toMatchObject({ 'sync.runs': 3 });
    expect(await mrrByTarget(targets)).toEqual({ postgres: told, lake: told });
    expect(await knownUntil()).toEqual(until);
  },
);

proofTest(
  'a month in a snapshot of a release that did not record observed months counts if a whole run succeeded',
  async () => {
    await exportNow();
    await forgetStreamMonths();
    // The runs of the other months are pruned.
    expect(await build('lake')).toMatchObject({ code: 0 });
    expect(mrrOf(await martOnLake(lake, 'subscription_mrr_monthly'))[0]).toBe('10.000000000');
  },
);

proofTest(
  'the observed months of a removed connection are kept or deleted together with its data',
  async () => {
    const kept = (): Promise<unknown[]> =>
      rows(warehouse, 'select month from history.stream_months where connection_id = $1', [connectionId]);
    const before = await kept();
    await removeConnection(warehouse, { connectionId, keepData: true });
    expect(await kept()).toEqual(before);
    const other = await addTestConnection(warehouse);
    await land(warehouse, { connectionId: other, stream: 'bills', pages: [[]] });
    await pruneWarehouse(warehouse, {
      keep: { runsMilliseconds: 1, historyMilliseconds: null },
      dryRun: false,
    });
    await removeConnection(warehouse, { connectionId: other, keepData: false });
    expect(
      await rows(warehouse, 'select from history.stream_months where connection_id = $1', [other]),
    ).toEqual([]);
  },
);

/** For each month, how many days after its first day it was last read, and whether it counts as complete. */
async function knownUntil(): Promise<{ day: number | null; isComplete: string | null | undefined }[]> {
  const mart = await martInPostgres(warehouse, 'subscription_mrr_monthly');
  const inOrder = mart.sort((one, other) => String(one.month).localeCompare(String(other.month)));
  return inOrder.map(({ month, observed_until: day, is_complete: isComplete }) => ({
    day: day === null ? null : (Date.parse(String(day)) - Date.parse(String(month))) / 86_400_000,
    isComplete,
  }));
}

async function addSync({
  monthsAgo,
  subscriptions,
  isOnLastDay,
}: {
  monthsAgo: number;
  subscriptions: string;
  isOnLastDay: boolean;
}): Promise<void> {
  await warehouse.pool.query(
    `with at as (
       select date_trunc('month', now() at time zone 'UTC') at time zone 'UTC' - $2 * interval '1 month'
         + case when $4 then interval '1 month -1 hour' when $2 = 0 then interval '0' else interval '5 days' end as moment
     ), run as (
       insert into sync.runs (run_id, connection_id, kind, status, workflow_id, temporal_run_id, reason, started_at, finished_at)
       select $1 || $2, $1, 'sync', case $3 when 'succeeded' then 'succeeded' else 'partial' end, '', '', 'test', moment, moment from at
     )
     insert into sync.run_streams (run_id, connection_id, stream, status, started_at, finished_at)
     select $1 || $2, $1, stream, status, moment, moment
     from at, (values ('bills', 'succeeded'), ('subscriptions', $3)) as streams (stream, status)`,
    [connectionId, monthsAgo, subscriptions, isOnLastDay],
  );
}

async function mrrByTarget(which: readonly (typeof targets)[number][]): Promise<Record<string, unknown>> {
  await exportNow();
  const mart = 'subscription_mrr_monthly';
  const found: Record<string, unknown> = {};
  for (const target of which) {
    const { code, stdout, stderr } = await build(target);
    expect(code, stdout + stderr).toBe(0);
    found[target] = mrrOf(
      await (target === 'postgres' ? martInPostgres(warehouse, mart) : martOnLake(lake, mart)),
    );
  }
  return found;
}

/** MRR by number of months ago. */
function mrrOf(mart: readonly MartRow[]): Record<number, string | null> {
  const now = new Date();
  return Object.fromEntries(
    mart.map(({ month, mrr }) => {
      const [year = 0, of = 0] = String(month).split('-').map(Number);
      return [(now.getUTCFullYear() - year) * 12 + now.getUTCMonth() + 1 - of, mrr ?? null];
    }),
  );
}

/** Changes the latest snapshot into what Daybook 0.5 would have exported. */
async function forgetStreamMonths(): Promise<void> {
  const pointerFile = join(lake, 'latest.json');
  const pointer = JSON.parse(await readFile(pointerFile, 'utf8')) as { snapshot_id: string };
  const folder = join(lake, 'snapshots', pointer.snapshot_id);
  const unknown = ['stream_months', 'waiting_deletions', 'field_issues', 'deleted_subscriptions'];
  for (const name of unknown) await rm(join(folder, name), { recursive: true });
  const manifest = manifestSchema.parse(JSON.parse(await readFile(join(folder, manifestFile), 'utf8')));
  const tables = Object.fromEntries(
    Object.entries(manifest.tables).filter(([name]) => !unknown.includes(name)),
  );
  const text = manifestText({ ...manifest, tables });
  await writeFile(join(folder, manifestFile), text);
  await writeFile(pointerFile, JSON.stringify({ ...pointer, manifest_sha256: sha256Of(text) }));
}
