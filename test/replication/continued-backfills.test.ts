import { describe, expect, test } from 'vitest';
import { bill, customer, expense } from '../support/finance-records.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { at, page, type ScriptedService } from './scripted-service.ts';
import { createServiceStarter } from './serve.ts';

const { warehouse } = await createTestDatabase();
const serve = createServiceStarter(warehouse);
const days = { from: '2024-01-01', to: '2024-02-20' };

test('a continued backfill is partial while records from its earlier run wait in quarantine', async () => {
  const service = await withBrokenWindow({ total_amount: '"much"' });
  expect(await service.backfill(['bills'], days)).toMatchObject({ status: 'failed' });
  service.onList = () => undefined;
  service.lists.bills = [bill('b', { updated_at: day('20') })];
  expect(await service.backfill(['bills'], days)).toMatchObject({ status: 'partial' });
  expect(
    await service.rows('select record_id, status from sync.quarantine where connection_id = $1'),
  ).toEqual([{ record_id: 'a', status: 'open' }]);
});

test('a continued backfill succeeds once the quarantined record has landed', async () => {
  const service = await withBrokenWindow({ total_amount: '"much"' });
  await service.backfill(['bills'], days);
  service.onList = () => undefined;
  service.lists.bills = [bill('a', { updated_at: day('02'), last_synced_at: at() })];
  await service.sync(['bills']);
  expect(await service.backfill(['bills'], days)).toMatchObject({ status: 'succeeded' });
});

test('a continued backfill is partial when the quarantined record moved from the refund list to the expense list', async () => {
  const service = await serve();
  const bad = (type: string): string =>
    expense('r', {
      expense_type: `"${type}"`,
      transaction_date: '"2024-13-45"',
      updated_at: day('02'),
      last_synced_at: at(),
    });
  service.lists = { expenses: [bad('refund'), expense('e', { updated_at: day('02') })] };
  service.onList = (_resource, query) =>
    query.get('expense_type') === 'refund' && Number(query.get('updated_at_min')) > Date.parse('2024-01-15')
      ? { status: 451, body: '{}' }
      : undefined;
  expect(await service.backfill(['expenses'], days)).toMatchObject({ status: 'partial' });
  service.onList = () => undefined;
  service.lists = { expenses: [bad('expense'), expense('e', { updated_at: day('02') })] };
  await service.sync(['expenses']);
  expect(await service.backfill(['expenses'], days)).toMatchObject({ status: 'partial' });
});

test('a continued backfill rereads windows that were read while the clock of Postgres was ahead', async () => {
  const broken = { isRepaired: false };
  const service = await withBrokenWindow({}, broken);
  expect(await service.backfill(['bills'], days)).toMatchObject({ status: 'failed' });
  await service.rows(
    `update sync.runs set started_at = started_at + interval '30 days', finished_at = finished_at + interval '30 days'
     where connection_id = $1`,
  );
  broken.isRepaired = true;
  service.lists.bills = [bill('a', { updated_at: day('02'), memo: '"edited"', last_synced_at: at() })];
  expect(await service.backfill(['bills'], days)).toMatchObject({ status: 'succeeded' });
  expect(await service.rows('select memo from finance.bills where connection_id = $1')).toEqual([
    { memo: 'edited' },
  ]);
});

describe('a continued backfill after runs dated in the future by a wrong Postgres clock', () => {
  test('rereads windows of a backfill that was terminated at an unknown time', async () => {
    const broken = { isRepaired: false };
    const service = await withBrokenWindow({}, broken);
    await addFutureRun(service);
    await service.backfill(['bills'], days);
    await markRunning(service);
    broken.isRepaired = true;
    service.lists.bills = [bill('a', { updated_at: day('02'), memo: '"edited"', last_synced_at: at() })];
    expect(await service.backfill(['bills'], days)).toMatchObject({ status: 'succeeded' });
    expect(await service.rows('select memo from finance.bills where connection_id = $1')).toEqual([
      { memo: 'edited' },
    ]);
  });

  test('counts what its earlier run left in quarantine', async () => {
    const broken = { isRepaired: false };
    const service = await withBrokenWindow({ total_amount: '"much"' }, broken);
    await addFutureRun(service);
    await service.backfill(['bills'], days);
    broken.isRepaired = true;
    service.lists.bills = [];
    expect(await service.backfill(['bills'], days)).toMatchObject({ status: 'partial' });
  });
});

/** Makes the next runs begin after one that began when the clock was two months ahead. */
async function addFutureRun(service: ScriptedService): Promise<void> {
  service.lists.customers = [customer('c')];
  await service.sync(['customers']);
  await service.rows(
    `update sync.runs set started_at = started_at + interval '60 days' where connection_id = $1`,
  );
}

/** Marks the run as running, as after an end from outside that nobody has recorded yet. */
async function markRunning(service: ScriptedService): Promise<void> {
  const [run] = await service.rows(
    `update sync.runs set status = 'running', finished_at = null where connection_id = $1 and kind = 'backfill' returning run_id`,
  );
  await service.rows(
    `update sync.run_streams set status = 'running', finished_at = null
     where connection_id = $1 and run_id = '${String(run?.run_id)}'`,
  );
}

/** Bill a is in a window that is read. A later window is refused until it is repaired, and is empty. */
async function withBrokenWindow(
  members: Record<string, string>,
  broken: { isRepaired: boolean } = { isRepaired: false },
): Promise<ScriptedService> {
  const service = await serve();
  service.lists = { bills: [bill('a', { ...members, updated_at: day('02') })] };
  service.onList = (resource, query) => {
    if (resource !== 'bills') return undefined;
    const isLater = Number(query.get('updated_at_min')) > Date.parse('2024-01-15');
    if (isLater) return broken.isRepaired ? page(service, 'bills', []) : { status: 451, body: '{}' };
    return page(service, 'bills', service.lists.bills ?? []);
  };
  return service;
}

function day(of: string): string {
  return `"2024-01-${of}T00:00:00.000Z"`;
}
