import { expect, test } from 'vitest';
import { noHalt, reconcileWithHalt } from '../reconcile/reconcile-with-halt.ts';
import { bill } from '../support/finance-records.ts';
import { beginTimeline, promotingStandby } from '../support/losing-commits.ts';
import { row } from '../support/rows.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { syncAmbiguousDeletion } from './ambiguous-deletion.ts';
import { at, page, type ScriptedService } from './scripted-service.ts';
import { createServiceStarter } from './serve.ts';

// A standby that lacks the last commit is promoted to a timeline of its own, while a run continues in the same process.
const { warehouse } = await createTestDatabase();
const serve = createServiceStarter(warehouse);

test('a run stores the server and the timeline on which it began', async () => {
  const service = await serve();
  await service.sync(['bills']);
  expect(await service.rows('select timeline from sync.runs where connection_id = $1')).toEqual([
    { timeline: expect.stringMatching(/^[0-9]{10,}\/[0-9A-F]{8}$/) as string },
  ]);
});

test('a reconcile whose findings are lost answers no reconcile request, even with a record in quarantine', async () => {
  const service = await serve();
  await syncAmbiguousDeletion(service, [bill('b'), bill('bad', { total_amount: '"much"' })]);
  await loseFindings(service);
});

test('a reconcile whose findings are lost does not answer the request of a deletion that names no record', async () => {
  const service = await serve();
  service.lists = { bills: [bill('a'), bill('b')] };
  await service.sync(['bills']);
  service.lists.bills = [bill('b')];
  service.events = [`{"resource":"BILL","type":"object_deleted","last_synced_at":${at()},"data":{}}`];
  await service.sync(['bills']);
  await loseFindings(service);
});

test('a backfill whose plan is lost does not succeed because of windows left by another run', async () => {
  const service = await serve();
  const days = { from: '2024-01-01', to: '2024-02-20' };
  const updated = { updated_at: '"2024-01-02T00:00:00.000Z"' };
  service.lists = { bills: [bill('a', updated)] };
  service.onList = (_, query) =>
    Number(query.get('updated_at_min')) > Date.parse('2024-01-15') ? { status: 451, body: '{}' } : undefined;
  expect(await service.backfill(['bills'], days)).toMatchObject({ status: 'failed' });
  await service.rows(
    `update sync.runs set started_at = started_at - interval '30 days', finished_at = finished_at - interval '30 days'
     where connection_id = $1`,
  );
  service.onList = (_, query) =>
    Number(query.get('updated_at_min')) > Date.parse('2024-01-15') ? page(service, 'bills', []) : undefined;
  service.lists.bills = [bill('a', { ...updated, memo: '"edited"', last_synced_at: at() })];
  const promoting = promotingStandby(warehouse, 'generate_series(0');
  service.warehouse = promoting;
  const { id, status } = await service.backfill(['bills'], days);
  expect(status).toBe('failed');
  expect(await row(warehouse, 'select failure from sync.runs where run_id = $1', [id])).toEqual({
    failure: expect.stringContaining('The database has lost the last commits of this run') as string,
  });
  expect(promoting.isLost()).toBe(true);
  service.warehouse = warehouse;
  expect(await service.backfill(['bills'], days)).toMatchObject({ status: 'succeeded' });
  expect(await service.rows('select memo from finance.bills where connection_id = $1')).toEqual([
    { memo: 'edited' },
  ]);
});

test.each([404, 410])(
  'a reconcile whose second comparison is lost after a %i deletes nothing that the second listing shows',
  async (status) => {
    const service = await serve();
    const all = ['a', 'b', 'c', 'x', 'y'].map((id) => bill(id));
    service.lists = { bills: all };
    await service.sync(['bills']);
    let fetches = 0;
    service.onFetch = (_, id) => {
      fetches += 1;
      return { status: id === 'x' && fetches === 1 ? status : 404, body: '{}' };
    };
    let listings = 0;
    service.onList = (_, query) => {
      if (query.has('last_synced_at_min')) return undefined;
      const cursor = query.get('cursor');
      if (cursor === null) listings += 1;
      const shown = listings < 2 ? all.slice(0, 3) : all.slice(0, 4);
      if (cursor === null) return page(service, 'bills', shown.slice(0, 1), 'one');
      return cursor === 'one'
        ? page(service, 'bills', shown.slice(1, 2), 'two')
        : page(service, 'bills', shown.slice(2), null);
    };
    const promoting = promotingStandby(warehouse, 'listing = 2 and completed_at is not null');
    const run = await reconcileWithHalt(promoting, service, ['bills'], noHalt);
    expect([promoting.isLost(), run]).toMatchObject([true, { status: 'failed' }]);
    expect(await service.ids('bills')).toContain('x');
  },
);

test('a webhook that reuses the number of a lost one is applied', async () => {
  const service = await serve();
  service.lists = { bills: [bill('a'), bill('b')] };
  await service.sync(['bills']);
  const edited = bill('a', { memo: '"new"', last_synced_at: at() });
  service.lists.bills = [edited, bill('b')];
  // While `a` is fetched. The standby lacks the webhook about it, and gives its number to the next one.
  service.onFetch = async () => {
    service.onFetch = () => undefined;
    const [had] = await service.rows(
      'delete from sync.webhook_inbox where connection_id = $1 returning id::text as id',
    );
    await warehouse.pool.query(
      `select setval(pg_get_serial_sequence('sync.webhook_inbox', 'id'), $1::bigint, false)`,
      [had?.id],
    );
    await beginTimeline(warehouse);
    service.lists.bills = [edited];
    await service.storeWebhook('DELETED', bill('b'));
    return undefined;
  };
  await service.storeWebhook('UPDATED', edited);
  await expect(service.applyWebhooks()).rejects.toThrow('lost the last commits');
  await service.applyWebhooks();
  expect(await service.ids('bills')).toEqual(['a']);
});

/** Loses the findings of a reconcile; the next one finds them again. */
async function loseFindings(service: ScriptedService): Promise<void> {
  expect(await service.isReconcileWanted('bills')).toBe(true);
  const promoting = promotingStandby(warehouse, 'insert into sync.discrepancies');
  service.warehouse = promoting;
  expect(await service.reconcile(['bills'])).toMatchObject({
    status: 'failed',
    streams: [{ stream: 'bills', failure_type: 'CommitsLost' }],
  });
  expect(promoting.isLost()).toBe(true);
  service.warehouse = warehouse;
  expect(await service.isReconcileWanted('bills')).toBe(true);
  await service.reconcile(['bills']);
  expect(await service.ids('bills')).toEqual(['b']);
}
