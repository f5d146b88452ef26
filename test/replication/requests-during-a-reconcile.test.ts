import { expect, test } from 'vitest';
import { resourceNamed } from '../../resources/index.ts';
import { readWantedReconciles } from '../../warehouse/reconcile/read-wanted-reconciles.ts';
import { wantReconcile } from '../../warehouse/reconcile/want-reconcile.ts';
import { bill, expense } from '../support/finance-records.ts';
import { buildDeletionEvent } from '../support/land-events.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { syncAmbiguousDeletion } from './ambiguous-deletion.ts';
import { at, type Answer } from './scripted-service.ts';
import { createServiceStarter } from './serve.ts';

const { warehouse } = await createTestDatabase();
const serve = createServiceStarter(warehouse);

// An event deletes, in whole seconds, a record that was touched in the same second. Only a reconcile can decide, and one is requested.
test.each([
  ['', false],
  [', also if one was requested before', true],
])('a reconcile requested while another one lists is still requested afterward%s', async (_which, before) => {
  const service = await serve();
  const second = Math.floor(Date.now() / 1_000) * 1_000 - 60_000;
  const touched = { last_synced_at: `"${new Date(second + 300).toISOString()}"` };
  const event = (id: string): string =>
    buildDeletionEvent(id, new Date(second).toISOString().replace('.000', ''));
  service.lists = { bills: [bill('b'), bill('c'), bill('x', touched), bill('y', touched)] };
  await service.sync(['bills']);
  service.lists.bills = [bill('b'), bill('c'), bill('y', touched)];
  if (before) {
    service.events = [event('x')];
    await service.sync(['bills']);
    expect(await service.isReconcileWanted('bills')).toBe(true);
  }
  service.onFetch = async () => {
    service.onFetch = () => undefined;
    // The reconcile has listed y, and fetches x. Then y is deleted, and the deletion is announced.
    service.lists.bills = [bill('b'), bill('c')];
    service.events.push(event('y'));
    expect((await service.sync(['bills'])).status).toBe('succeeded');
    expect(await service.isReconcileWanted('bills')).toBe(true);
    return undefined;
  };
  expect((await service.reconcile(['bills'])).status).toBe('succeeded');
  await service.sync(['bills']);
  expect(await service.ids('bills')).toEqual(['b', 'c', 'y']);
  expect(await service.isReconcileWanted('bills')).toBe(true);
});

test('a reconcile request dated in the future by a wrong clock is answered by the second reconcile', async () => {
  const service = await serve();
  service.lists = { bills: [bill('b')] };
  await service.sync(['bills']);
  await warehouse.pool.query(
    `update sync.streams set reconcile_wanted_at = now() + interval '30 days' where connection_id = $1 and stream = 'bills'`,
    [service.connection],
  );
  await service.reconcile(['bills']);
  expect(await service.isReconcileWanted('bills')).toBe(true);
  await service.reconcile(['bills']);
  expect(await service.isReconcileWanted('bills')).toBe(false);
});

test('an event without an ID that comes while a requested reconcile lists gets its own reconcile', async () => {
  const service = await serve();
  service.lists = { bills: [bill('b'), bill('c'), bill('x'), bill('y')] };
  await service.sync(['bills']);
  const nameless = (at: number): string =>
    buildDeletionEvent('?', new Date(at).toISOString(), { data: 'null', id: `"event-${at}"` });
  service.lists.bills = [bill('b'), bill('c'), bill('y')];
  service.events = [nameless(Date.now() - 60_000)];
  await service.sync(['bills']);
  expect(await service.isReconcileWanted('bills')).toBe(true);
  service.onFetch = async () => {
    service.onFetch = () => undefined;
    service.lists.bills = [bill('b'), bill('c')];
    service.events.push(nameless(Date.now() - 30_000));
    await service.sync(['bills']);
    return undefined;
  };
  await service.reconcile(['bills']);
  const { status } = await service.sync(['bills']);
  const open = await service.rows(
    `select stream, reason from sync.quarantine where connection_id = $1 and status = 'open'`,
  );
  expect(status).toBe('partial');
  expect(open).not.toEqual([]);
  expect(await service.isReconcileWanted('bills')).toBe(true);
});

test('a reconcile request that a reconcile cannot answer is retried after an hour, then at growing intervals', async () => {
  const service = await serve();
  const second = Math.floor(Date.now() / 1_000 - 30) * 1_000;
  const touched = JSON.stringify(new Date(second + 200).toISOString());
  service.lists = { bills: [bill('kept'), bill('other'), bill('x', { last_synced_at: touched })] };
  await service.sync(['bills']);
  service.lists = { bills: [bill('kept'), bill('other')] };
  const when = JSON.stringify(new Date(second).toISOString());
  service.events = [
    `{"id":"e","resource":"BILL","type":"object_deleted","last_synced_at":${when},"data":{"id":"x","deleted_at":${when}}}`,
  ];
  await service.sync(['bills']);
  expect(await service.isReconcileWanted('bills')).toBe(true);
  service.onFetch = (_resource, id) => (id === 'x' ? { status: 500, body: '{}' } : undefined);
  expect(await service.reconcile(['bills'])).toMatchObject({ status: 'partial' });
  expect(await service.isReconcileWanted('bills')).toBe(true);
  const due = async (): Promise<string[]> => readWantedReconciles(warehouse, service.connection);
  expect(await due()).toEqual([]);
  await service.rows(
    `update sync.streams set
       reconcile_wanted_at = reconcile_wanted_at - interval '3 hours',
       reconcile_not_before = reconcile_not_before - interval '3 hours'
     where connection_id = $1`,
  );
  expect(await due()).toEqual(['bills']);
  expect(await service.reconcile(['bills'])).toMatchObject({ status: 'partial' });
  const [later] = await service.rows(
    `select reconcile_not_before between clock_timestamp() + interval '2 hours' and clock_timestamp() + interval '4 hours' as late
     from sync.streams where connection_id = $1 and stream = 'bills'`,
  );
  expect(later).toEqual({ late: true });
  service.onFetch = () => undefined;
  expect(await service.reconcile(['bills'])).toMatchObject({ status: 'succeeded' });
  expect(await service.ids('bills')).toEqual(['kept', 'other']);
  expect(await service.isReconcileWanted('bills')).toBe(false);
  expect(await due()).toEqual([]);
});

// Each of these reconciles ends before it could settle the request, and each would list the whole resource again with every sync.
test.each<[string, Answer]>([
  ['whose other list the service does not offer', { status: 404, body: '{"error_code":"NOT_SUPPORTED"}' }],
  ['whose other list keeps failing', { status: 500, body: '{}' }],
])('a requested reconcile of a resource %s is repeated after an hour', async (_which, answer) => {
  const service = await serve();
  service.lists = { expenses: [expense('e')] };
  service.onList = (_resource, query) => (query.get('expense_type') === 'refund' ? answer : undefined);
  await service.sync(['expenses']);
  await wantReconcile(warehouse.pool, {
    connectionId: service.connection,
    resource: resourceNamed('expenses'),
  });
  const due = async (): Promise<string[]> => readWantedReconciles(warehouse, service.connection);
  expect(await due()).toEqual(['expenses']);
  await service.reconcile(['expenses']);
  expect(await service.isReconcileWanted('expenses')).toBe(true);
  expect(await due()).toEqual([]);
});

test('a request for a reconcile of a list that the service does not offer is repeated after an hour', async () => {
  const service = await serve();
  service.lists = { bills: [bill('b')] };
  service.onList = (resource) =>
    resource === 'items' ? { status: 404, body: '{"error_code":"NOT_SUPPORTED"}' } : undefined;
  await service.sync(['bills', 'items']);
  await wantReconcile(warehouse.pool, { connectionId: service.connection, resource: resourceNamed('items') });
  await service.reconcile(['items']);
  expect(await readWantedReconciles(warehouse, service.connection)).toEqual([]);
});

test('a request that comes while a reconcile fails does not wait for an hour', async () => {
  const service = await serve();
  service.lists = { bills: [bill('b')] };
  await service.sync(['bills']);
  const scope = { connectionId: service.connection, resource: resourceNamed('bills') };
  await wantReconcile(warehouse.pool, scope);
  service.onList = async () => {
    await wantReconcile(warehouse.pool, scope);
    return { status: 500, body: '{}' };
  };
  await service.reconcile(['bills']);
  expect(await readWantedReconciles(warehouse, service.connection)).toEqual(['bills']);
});

test('a discarded bad record leaves no reconcile request unanswered', async () => {
  const service = await serve();
  const others = [bill('b'), bill('bad', { total_amount: '"much"' })];
  await syncAmbiguousDeletion(service, others, () => service.discardAll());
  expect(await service.isReconcileWanted('bills')).toBe(true);
  await service.reconcile(['bills']);
  expect(await service.ids('bills')).toEqual(['b']);
  expect(await service.isReconcileWanted('bills')).toBe(false);
});

test('a discarded version of a record held in an older version leaves no reconcile request unanswered', async () => {
  const service = await serve();
  const bad = bill('bad', { total_amount: '"much"', last_synced_at: at(-1_000) });
  service.lists = { bills: [bill('b'), bill('bad')] };
  await service.sync(['bills']);
  service.lists.bills = [bill('b'), bad];
  await service.sync(['bills']);
  await service.discardAll();
  await wantReconcile(warehouse.pool, { connectionId: service.connection, resource: resourceNamed('bills') });
  expect((await service.reconcile(['bills'])).status).toBe('partial');
  expect(await service.isReconcileWanted('bills')).toBe(false);
});

test('a new reconcile request does not wait for a postponed one', async () => {
  const service = await serve();
  service.lists = { bills: [bill('kept')] };
  await service.sync(['bills']);
  const putOff = `update sync.streams set reconcile_wanted_at = now() - interval '2 hours',
    reconcile_not_before = now() + $2::interval where connection_id = $1 and stream = 'bills'`;
  const due = async (): Promise<string[]> => readWantedReconciles(warehouse, service.connection);
  await warehouse.pool.query(putOff, [service.connection, '1 hour']);
  expect(await due()).toEqual([]);
  await wantReconcile(warehouse.pool, { connectionId: service.connection, resource: resourceNamed('bills') });
  expect(await due()).toEqual(['bills']);
  // The database's clock was ahead when the reconcile was put off.
  await warehouse.pool.query(putOff, [service.connection, '30 hours']);
  expect(await due()).toEqual(['bills']);
});
