import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { backfillPlan, InvalidBackfill } from '../../warehouse/passes/backfill-plan.ts';
import { dropWindows, nextWindow } from '../../warehouse/passes/backfill-windows.ts';
import { estimateBackfill } from '../../warehouse/passes/estimate-backfill.ts';
import { planBackfill } from '../../warehouse/passes/plan-backfill.ts';
import { bill, expense } from '../support/finance-records.ts';
import { begin, land } from '../support/land.ts';
import { rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse } = await createTestDatabase();

const day = 86_400_000;
const january = { from: '2024-01-01', to: '2024-02-01' };

describe('the input of a plan', () => {
  test.each([
    ['2024-01-01', '2024-01-01T00:00:00.000Z'],
    ['2024-01-01T12:30:00+02:00', '2024-01-01T10:30:00.000Z'],
    ['2024-01-01 12:30', '2024-01-01T12:30:00.000Z'],
  ])('%s is read as %s', (from, instant) => {
    expect(backfillPlan({ from, to: '2024-02-01' }).from).toBe(instant);
  });

  test.each([
    ['an empty time', { from: '2024-01-01', to: '2024-01-01' }],
    ['a day that does not exist', { from: '2024-02-30', to: '2024-03-01' }],
    ['a window below an hour', { ...january, windowMilliseconds: 3_599_999 }],
    ['a window that is no number', { ...january, windowMilliseconds: Number('30d') }],
    ['millions of windows', { from: '1970-01-01', to: '2024-01-01', windowMilliseconds: 3_600_000 }],
  ])('%s is rejected', (_, asked) => {
    expect(() => backfillPlan(asked)).toThrow(InvalidBackfill);
  });

  test('a window may be as short as an hour', () => {
    const plan = backfillPlan({ ...january, windowMilliseconds: 3_600_000 });
    expect(plan.windowMilliseconds).toBe(3_600_000);
  });

  test('all resources give the same plan, named or not, and fewer give another', () => {
    const all = ['subscriptions', 'bills', 'expenses', 'bill_credit_memos', 'customers', 'items'];
    expect(backfillPlan({ ...january, resources: all }).name).toBe(backfillPlan(january).name);
    const some = backfillPlan({ ...january, resources: ['items', 'bills'] });
    expect(some.name).toBe(backfillPlan({ ...january, resources: ['bills', 'items'] }).name);
    expect(some.name).not.toBe(backfillPlan(january).name);
  });
});

test('the windows of a plan cover its time, in inclusive millisecond filters', async () => {
  const { connectionId, runId } = await connectionWithRun();
  const plan = backfillPlan({ ...january, windowMilliseconds: 14 * day, resources: ['bills'] });
  await planBackfill(warehouse, { connectionId, runId, plan });
  expect(
    await rows(
      warehouse,
      `select floor::text, ceiling::text from sync.passes where connection_id = $1 order by floor`,
      [connectionId],
    ),
  ).toEqual([
    { floor: '2024-01-01 00:00:00+00', ceiling: '2024-01-15 00:00:00+00' },
    { floor: '2024-01-15 00:00:00+00', ceiling: '2024-01-29 00:00:00+00' },
    { floor: '2024-01-29 00:00:00+00', ceiling: '2024-01-31 23:59:59.999+00' },
  ]);
});

test('a plan made twice is one plan, and its finished windows are not planned again', async () => {
  const { connectionId, runId } = await connectionWithRun();
  const plan = backfillPlan({ ...january, windowMilliseconds: day, resources: ['bills', 'items'] });
  const of = { connectionId, stream: 'bills', plan: plan.name };
  await Promise.all([1, 2].map(() => planBackfill(warehouse, { connectionId, runId, plan })));
  expect(await nextWindow(warehouse, of)).toEqual({
    part: `${plan.name}/2024-01-01T00:00:00.000Z`,
    left: 31,
  });
  await warehouse.pool.query(
    `delete from sync.passes where connection_id = $1 and stream = 'bills' and floor < '2024-01-31'`,
    [connectionId],
  );
  await dropWindows(warehouse, { ...of, stream: 'items' });
  await planBackfill(warehouse, { connectionId, runId, plan });
  expect(await nextWindow(warehouse, of)).toMatchObject({ left: 1 });
  expect(await nextWindow(warehouse, { ...of, stream: 'items' })).toBeUndefined();
});

test.each([
  ['8 days ago', 0],
  ['6 days ago', 31],
  [null, 31],
])('windows that a failed backfill of other days left, which ended %s, are kept: %i', async (ended, kept) => {
  const { connectionId, runId } = await connectionWithRun();
  const plan = backfillPlan({ ...january, windowMilliseconds: day, resources: ['bills'] });
  await planBackfill(warehouse, { connectionId, runId, plan });
  await warehouse.pool.query(
    `update sync.runs set started_at = now() - interval '9 days', finished_at = now() - $2::interval,
       kind = 'backfill', workflow_id = 'others',
       status = case when $2::interval is null then 'running' else 'failed' end where run_id = $1`,
    [runId, ended?.replace(' ago', '') ?? null],
  );
  const later = randomUUID();
  await begin(warehouse, { connectionId, runId: later });
  const others = backfillPlan({ from: '2024-03-01', to: '2024-03-02', resources: ['bills'] });
  await planBackfill(warehouse, { connectionId, runId: later, plan: others });
  const left = await rows(warehouse, 'select from sync.passes where connection_id = $1 and run_id = $2', [
    connectionId,
    runId,
  ]);
  expect(left).toHaveLength(kept);
});

describe('the estimate', () => {
  const plan = backfillPlan({ ...january, windowMilliseconds: 10 * day, resources: ['bills', 'expenses'] });

  test('counts a request for each window, and one more for each 500 records held in it', async () => {
    const { connectionId } = await connectionWithRun();
    const of = (count: number, updatedAt: string): string[] =>
      Array.from({ length: count }, (_, number) =>
        bill(`${updatedAt}-${number}`, { updated_at: `"${updatedAt}"` }),
      );
    const bills = [...of(501, '2024-01-03T00:00:00Z'), ...of(500, '2024-01-12T00:00:00Z')];
    const elsewhere = [...of(1, '2024-02-01T00:00:00Z'), ...of(1, '2023-12-31T23:59:59Z')];
    await land(warehouse, { connectionId, stream: 'bills', pages: [[...bills, ...elsewhere]] });
    const refunds = Array.from({ length: 600 }, (_, number) =>
      expense(`r-${number}`, { expense_type: '"refund"', updated_at: '"2024-01-02T00:00:00Z"' }),
    );
    await land(warehouse, { connectionId, stream: 'refunds', pages: [refunds] });
    expect(await estimateBackfill(warehouse, { connectionId, plan })).toEqual({
      resumes: false,
      streams: [
        { stream: 'bills', windows: 4, requests: 5 },
        { stream: 'expenses', windows: 4, requests: 4 },
        { stream: 'refunds', windows: 4, requests: 5 },
      ],
      unsupported: [],
    });
    expect(await rows(warehouse, `select from sync.passes where connection_id = $1`, [connectionId])).toEqual(
      [],
    );
  });

  test('covers only the remaining windows of an unfinished run', async () => {
    const { connectionId, runId } = await connectionWithRun();
    await planBackfill(warehouse, { connectionId, runId, plan });
    await warehouse.pool.query(
      `delete from sync.passes where connection_id = $1 and (stream <> 'bills' or floor < '2024-01-21')`,
      [connectionId],
    );
    expect(await estimateBackfill(warehouse, { connectionId, plan })).toEqual({
      resumes: true,
      streams: [{ stream: 'bills', windows: 2, requests: 2 }],
      unsupported: [],
    });
  });

  test('leaves out unsupported lists, and names them', async () => {
    const { connectionId } = await connectionWithRun();
    await warehouse.pool.query(
      `insert into sync.streams (connection_id, stream, resource, capability, capability_checked_at)
       values ($1, 'bills', 'bills', 'unsupported', now())`,
      [connectionId],
    );
    const estimate = await estimateBackfill(warehouse, { connectionId, plan });
    expect(estimate.unsupported).toEqual(['bills']);
    expect(estimate.streams.map(({ stream }) => stream)).toEqual(['expenses', 'refunds']);
  });
});

async function connectionWithRun(): Promise<{ connectionId: string; runId: string }> {
  const connectionId = await addTestConnection(warehouse);
  const runId = `run of ${connectionId}`;
  await begin(warehouse, { connectionId, runId });
  return { connectionId, runId };
}
