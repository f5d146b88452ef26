import { expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { bill } from '../support/finance-records.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { lateAttempt } from './late-attempt.ts';
import { at, page, type ScriptedService } from './scripted-service.ts';
import { createServiceStarter } from './serve.ts';

// The effects of an attempt that is killed, or that runs too long, on the proof of a reconcile.
const { warehouse } = await createTestDatabase();
const serve = createServiceStarter(warehouse);
const minute = 60_000;

test('a reconcile whose session is killed before it counts a fetched invalid record does not succeed', async () => {
  const service = await serve();
  service.lists = { bills: [bill('a'), bill('r', { last_synced_at: at(-minute) })] };
  await service.sync(['bills']);
  // A moment ago r was edited into a form that cannot be stored. The list lags, and does not show the edit.
  const bad = bill('r', { last_synced_at: at(-1_000), total_amount: '"999"' });
  service.lists.bills = [bill('a'), bad];
  service.onList = () => page(service, 'bills', [bill('a')]);
  await killSessionOnceWhen(service, 'new.quarantined > old.quarantined');
  const run = await service.reconcile(['bills']);
  expect(service.failures).toHaveLength(1);
  const [{ total } = {}] = await service.rows(
    `select total_amount::text as total from finance.bills where connection_id = $1 and id = 'r'`,
  );
  expect({ status: run.status, total }).toEqual({ status: 'partial', total: '110.25' });
});

test.each([
  ['beside which nothing happens', false],
  ['beside which an attempt of a failed one lives on', true],
])('a reconcile that cannot prove equality, %s, does not succeed', async (_, livesOn) => {
  const service = await serve();
  const [older, newer] = [-60, -1].map((minutes) =>
    bill('c', { last_synced_at: at(minutes * minute), memo: `"${minutes}"` }),
  );
  service.lists = { bills: [bill('a'), bill('b'), newer ?? ''] };
  await service.sync(['bills']);
  // A reconcile fails. A given-up attempt of its reading is still running on a worker that stalls.
  service.onList = () => ({ status: 400, body: '{"error_code":"NOPE"}' });
  const failed = await service.reconcile(['bills']);
  expect(failed.status).toBe('failed');
  // In the next reconcile b is gone, and c is listed differently from the held row and cannot be fetched, so they are not equal.
  service.lists.bills = [bill('a'), older ?? ''];
  service.onList = () => undefined;
  let late: Promise<unknown> = Promise.resolve();
  service.onFetch = async (_, id) => {
    if (id === 'c') return { status: 403, body: '{}' };
    if (id !== 'b') return undefined;
    if (!livesOn) return { status: 410, body: '{}' };
    // Another session locks the clock of bills for a moment, so that the deletion waits. Meanwhile the old attempt continues.
    const other = await warehouse.pool.connect();
    await other.query('begin');
    await other.query(
      `select from sync.resource_clocks where connection_id = $1 and resource = 'bills' for update`,
      [service.connection],
    );
    late = (async () => {
      await untilWaiting(1);
      const reading = lateAttempt(service, { runId: String(failed.id), kind: 'reconcile', stream: 'bills' });
      await untilWaiting(2);
      await other.query('commit');
      other.release();
      await reading;
    })();
    return { status: 410, body: '{}' };
  };
  const run = await service.reconcile(['bills']);
  await late;
  const proof = await service.rows(
    `select status, totals from sync.run_streams where connection_id = $1 and run_id = '${String(run.id)}'`,
  );
  const [{ memo } = {}] = await service.rows(
    `select memo from finance.bills where connection_id = $1 and id = 'c'`,
  );
  expect(memo).toBe('-1');
  expect({ status: run.status, proof }).not.toEqual({
    status: 'succeeded',
    proof: [{ status: 'succeeded', totals: null }],
  });
});

test('a record re-created in the second in which a fetch missed it, and brought by a webhook, lives', async () => {
  const service = await serve();
  const second = Math.floor(Date.now() / 1_000) * 1_000;
  let now = second;
  service.date = () => new Date(now);
  service.lists = { bills: ['a', 'b', 'r'].map((id) => bill(id)) };
  await service.sync(['bills']);
  service.lists.bills = ['a', 'b'].map((id) => bill(id));
  const again = bill('r', { last_synced_at: `"${new Date(second + 500).toISOString()}"`, memo: '"again"' });
  let fetches = 0;
  service.onFetch = async (_, id) => {
    if (id !== 'r') return undefined;
    fetches += 1;
    if (fetches > 1) return undefined;
    // This answer (410) dates from the beginning of the second, and takes some seconds to arrive. Meanwhile:
    service.lists.bills = [...['a', 'b'].map((one) => bill(one)), again];
    now = second + 5_000;
    await service.deliverWebhook('CREATED', again);
    now = second;
    return { status: 410, body: '{}' };
  };
  service.onList = (_, query) =>
    query.has('last_synced_at_min')
      ? undefined
      : page(
          service,
          'bills',
          ['a', 'b'].map((id) => bill(id)),
        );
  const run = await service.reconcile(['bills']);
  service.onList = () => undefined;
  now = second + 60_000;
  const afterReconcile = await service.ids('bills');
  await service.sync(['bills']);
  expect({ status: run.status, afterReconcile, afterSync: await service.ids('bills') }).toMatchObject({
    afterReconcile: ['a', 'b', 'r'],
    afterSync: ['a', 'b', 'r'],
  });
});

/** Ends the session once, at the statement that would make the condition true for a row of `sync.run_streams`. */
async function killSessionOnceWhen(service: ScriptedService, condition: string): Promise<void> {
  await warehouse.pool.query(`
    create sequence public.deaths;
    create function public.die_once() returns trigger language plpgsql as $$
    begin
      if nextval('public.deaths') = 1 then raise exception 'killed' using errcode = '57P01'; end if;
      return new;
    end $$;
    create trigger die_once before update on sync.run_streams for each row
      when (new.connection_id = '${service.connection}' and ${condition}) execute function public.die_once()`);
}

/** Waits until so many sessions wait for locks. */
async function untilWaiting(sessions: number): Promise<void> {
  await eventually(async () => {
    const { rows } = await warehouse.pool.query<{ count: number }>(
      `select count(*)::int as count from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return (rows[0]?.count ?? 0) >= sessions ? true : undefined;
  });
}
