import { beforeEach, describe, expect, test } from 'vitest';
import { rebuildConnection } from '../../operations/rebuild-connection.ts';
import { resources } from '../../resources/index.ts';
import { pruneWarehouse } from '../../warehouse/retention/prune-warehouse.ts';
import { row, rows, type Row } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse } = await createTestDatabase();

beforeEach(async () => {
  await warehouse.pool.query('truncate history.record_versions');
  // Versions added here are older than those that an earlier test has pruned.
  await warehouse.pool.query(`delete from sync.settings where name = 'history_pruned_until'`);
});

describe('old versions', () => {
  test('are kept forever by default', async () => {
    const connectionId = await addTestConnection(warehouse);
    await addVersions(connectionId, 'b', [400, 300, 200]);
    expect(await prune({ keepDays: null })).toBe(0);
  });

  test('replaced before the cutoff are deleted, and as_of gives the same results for every later moment', async () => {
    const connectionId = await addTestConnection(warehouse);
    await addVersions(connectionId, 'only', [400]);
    await addVersions(connectionId, 'often', [400, 300, 200, 20, 10]);
    await addVersions(connectionId, 'deleted', [400, 300], [250]);
    await addVersions(connectionId, 'deleted inside', [400, 300], [50]);
    await addVersions(connectionId, 'recreated', [400, 200, 30], [350, 150]);
    const before = await asOfEachDay(connectionId, 100);
    const replaced = 2 + 2 + 1 + 3;
    expect(await prune({ keepDays: 100, dryRun: true })).toBe(replaced);
    expect(await prune({ keepDays: 100 })).toBe(replaced);
    expect(await asOfEachDay(connectionId, 100)).toEqual(before);
    expect(await prune({ keepDays: 100 })).toBe(0);
  });

  test('recorded before the last prune are rescanned only by a prune that keeps history longer', async () => {
    const connectionId = await addTestConnection(warehouse);
    await addVersions(connectionId, 'b', [400, 300, 200, 20]);
    expect(await prune({ keepDays: 250 })).toBe(1);
    await addVersions(connectionId, 'of before', [380, 370]);
    expect(await prune({ keepDays: 250 })).toBe(0);
    expect(await prune({ keepDays: 350 })).toBe(1);
    expect(await prune({ keepDays: 100, dryRun: true })).toBe(1);
    expect(await prune({ keepDays: 100 })).toBe(1);
    expect(await prune({ keepDays: 10 })).toBe(1);
  });

  test('locked by another session are deleted by the next prune', async () => {
    const connectionId = await addTestConnection(warehouse);
    await addVersions(connectionId, 'b', [400, 300]);
    const holder = await warehouse.pool.connect();
    await holder.query('begin; select from history.record_versions for update');
    expect(await prune({ keepDays: 100 })).toBe(0);
    await holder.query('rollback');
    holder.release();
    expect(await prune({ keepDays: 100 })).toBe(1);
  });

  test('needed by a rebuild are kept, even when history is kept for no time', async () => {
    const connectionId = await addTestConnection(warehouse);
    await addVersions(connectionId, 'alive', [400, 300, 2]);
    await addVersions(connectionId, 'dead', [400], [300]);
    const input = { connectionId, resources, onBatch: () => undefined };
    await rebuildConnection(warehouse, input);
    const memos = `select id, memo from finance.bills where connection_id = '${connectionId}'`;
    const before = await rows(warehouse, memos);
    expect(before).toEqual([{ id: 'alive', memo: '2 days ago' }]);
    expect(await prune({ keepDays: 0 })).toBe(3);
    await warehouse.pool.query(`update finance.bills set memo = 'damaged'`);
    await rebuildConnection(warehouse, input);
    expect(await rows(warehouse, memos)).toEqual(before);
  });

  test('of many records are deleted in one prune', async () => {
    const connectionId = await addTestConnection(warehouse);
    await warehouse.pool.query(
      `insert into history.record_versions (connection_id, resource, record_id, recorded_at, op, payload)
       select $1, 'bills', 'b' || record, now() - age * interval '1 day', 'upsert', '{}'
       from generate_series(1, 4000) as record, unnest(array[400, 300, 200, 10]) as age`,
      [connectionId],
    );
    expect(await prune({ keepDays: 100 })).toBe(8_000);
    expect(await rows(warehouse, 'select from history.record_versions')).toHaveLength(8_000);
  });
});

describe('the pruned months of recurring revenue', () => {
  test('are those with a deleted version that was current at the end of the month', async () => {
    const [whole, changed, young] = [
      await addTestConnection(warehouse),
      await addTestConnection(warehouse),
      await addTestConnection(warehouse),
    ];
    await addSubscription(whole, '2025-01-10', '2025-01-20');
    await addSubscription(changed, '2025-01-10', '2025-06-10', '2025-06-20', '2025-08-10');
    await addSubscription(young, '2025-04-10', '2025-06-10');
    // Nobody knows what an earlier release pruned.
    expect(await pruneUntil('2025-04-01')).toBe(1);
    const prunedOfAll = (): Promise<string[][]> => Promise.all([whole, changed, young].map(prunedMonths));
    expect(await prunedOfAll()).toEqual([['2025-03-01'], ['2025-03-01'], []]);
    // Nothing of June is lost: its last version stays.
    expect(await pruneUntil('2025-07-15')).toBe(3);
    expect(await pruneUntil('2025-07-16', { dryRun: true })).toBe(0);
    expect(await prunedOfAll()).toEqual([['2025-03-01'], ['2025-03-01', '2025-05-01'], ['2025-05-01']]);
  });

  test('follow the last read of a month: a later version belongs to the next month', async () => {
    await pruneUntil('2025-04-01');
    const [late, later] = [await addTestConnection(warehouse), await addTestConnection(warehouse)];
    await addSubscription(late, '2025-11-01', '2025-11-25');
    // It was current at the end of no month: both count in December.
    await addSubscription(later, '2025-11-10', '2025-12-05');
    for (const connectionId of [late, later])
      await readUntil(connectionId, { month: '2025-11-01', day: '2025-11-03' });
    expect(await pruneUntil('2025-12-10')).toBe(2);
    expect([await prunedMonths(late), await prunedMonths(later)]).toEqual([['2025-11-01'], [noMonth]]);
  });

  test('are empty when no deleted version was current at the end of a month, but the prune is recorded', async () => {
    await pruneUntil('2025-04-01');
    const connectionId = await addTestConnection(warehouse);
    await addSubscription(connectionId, '2025-10-05', '2025-10-22', '2025-11-10');
    expect(await pruneUntil('2025-11-01')).toBe(1);
    expect(await prunedMonths(connectionId)).toEqual([noMonth]);
    expect(await pruneUntil('2025-11-11')).toBe(1);
    expect(await prunedMonths(connectionId)).toEqual([noMonth, '2025-10-01']);
  });

  test('exclude the current month: a version replaced after its last read is kept until the next read', async () => {
    const connectionId = await addTestConnection(warehouse);
    const { month, before } = await row(
      warehouse,
      `select date_trunc('month', now())::date::text as month, (now() - interval '1 day')::date::text as before`,
    );
    await pruneUntil('2025-04-01');
    await addSubscription(connectionId, '2025-05-10', new Date(Date.now() - 60_000).toISOString());
    await readUntil(connectionId, { month: String(month), day: String(before) });
    expect(await prune({ keepDays: 0, dryRun: true })).toBe(0);
    for (let walk = 0; walk < 2; walk += 1) expect(await prune({ keepDays: 0 })).toBe(0);
    expect(await prunedMonths(connectionId)).toEqual([]);
    await warehouse.pool.query(
      `update history.kept_stream_months set complete_until = now()::date where connection_id = $1`,
      [connectionId],
    );
    expect(await prune({ keepDays: 0, dryRun: true })).toBe(1);
    expect(await prune({ keepDays: 0 })).toBe(1);
    expect(await prunedMonths(connectionId)).toHaveLength(1);
  });
});

/** Recorded when something is gone but every month can still be shown. */
const noMonth = '1900-01-01';

async function readUntil(
  connectionId: string,
  { month, day }: { month: string; day: string },
): Promise<void> {
  await warehouse.pool.query(
    `insert into history.kept_stream_months (connection_id, stream, month, outcome, complete_until)
     values ($1, 'subscriptions', $2, 'complete', $3)`,
    [connectionId, month, day],
  );
}

/** Returns the number of pruned versions. */
async function prune(input: { keepDays: number | null; dryRun?: boolean }): Promise<number | undefined> {
  const { keepDays, dryRun = false } = input;
  const day = 86_400_000;
  const keep = {
    runsMilliseconds: 90 * day,
    historyMilliseconds: keepDays === null ? null : keepDays * day,
  };
  return (await pruneWarehouse(warehouse, { keep, dryRun }))['history.record_versions'];
}

async function pruneUntil(day: string, { dryRun = false } = {}): Promise<number | undefined> {
  return prune({ keepDays: (Date.now() - Date.parse(day)) / 86_400_000, dryRun });
}

async function addSubscription(connectionId: string, ...days: readonly string[]): Promise<void> {
  await warehouse.pool.query(
    `insert into history.record_versions (connection_id, resource, record_id, recorded_at, op, payload, run_id)
     select $1, 'subscriptions', 's', day::timestamptz, 'upsert', '{}', 'run' from unnest($2::text[]) as day`,
    [connectionId, days],
  );
}

async function prunedMonths(connectionId: string): Promise<string[]> {
  const months = await rows(
    warehouse,
    `select month::text from history.stream_months
     where connection_id = $1 and stream = 'subscriptions' and outcome = 'pruned' order by month`,
    [connectionId],
  );
  return months.map(({ month }) => String(month));
}

async function addVersions(
  connectionId: string,
  recordId: string,
  upserts: readonly number[],
  deletes: readonly number[] = [],
): Promise<void> {
  await warehouse.pool.query(
    `insert into history.record_versions (connection_id, resource, record_id, recorded_at, op, payload, run_id)
     select $1, 'bills', $2, now() - days * interval '1 day', op,
       jsonb_build_object('id', $2::text, 'memo', days || ' days ago', 'last_synced_at', '2024-01-01'), 'run'
     from (
       select days, 'upsert' as op from unnest($3::int[]) as days
       union all
       select days, 'delete' from unnest($4::int[]) as days
     ) version`,
    [connectionId, recordId, upserts, deletes],
  );
}

/** The known content at noon of each of the last days. */
function asOfEachDay(connectionId: string, days: number): Promise<Row[]> {
  return rows(
    warehouse,
    `select days, known.record_id, known.payload ->> 'memo' as memo
     from generate_series(0, $2 - 1) as days
     cross join lateral history.as_of('bills', date_trunc('day', now()) - (days - 0.5) * interval '1 day') known
     where known.connection_id = $1
     order by 1, 2`,
    [connectionId, days],
  );
}
