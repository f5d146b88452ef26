import { afterEach, describe, expect, test } from 'vitest';
import type { ResourceName } from '../../sandbox/api/resources.ts';
import { bill } from '../support/finance-records.ts';
import { createInstallation } from '../support/installation.ts';
import { proofTest, some } from '../support/proof-test.ts';
import { readFoundDiscrepancies, readProofs, reconcile } from '../support/reconcile.ts';
import { row, rows, type Row } from '../support/rows.ts';
import { statusesOf, sync } from '../support/sync.ts';

const installation = await createInstallation({ env: { DAYBOOK_GIVE_UP_AFTER: '3s' } });
const { warehouse, admin } = installation;
await installation.startWorker();

afterEach(async () => {
  await admin.clearFaults();
  await admin.configure({});
});

describe('an unannounced deletion', () => {
  test('is confirmed by a fetch, removes the record from finance, and is kept in deleted_records as found by the reconcile', async () => {
    const connection = await synced();
    const id = await deleteWithoutEvent(connection, 'bills');
    expect((await sync(installation, connection)).run.status).toBe('succeeded');
    expect(await heldIds(connection, 'bills')).toContain(id);
    const { run } = await reconcile(installation, connection);
    expect(run.status).toBe('succeeded');
    expect(run.streams.find(({ stream }) => stream === 'bills')).toMatchObject({ deleted: 1 });
    expect(await listFetches(connection)).toEqual([`/accounting/bills/${id}`]);
    expect(await readFoundDiscrepancies(installation, connection)).toEqual([
      { resource: 'bills', record_id: id, kind: 'extra', status: 'repaired' },
    ]);
    expect(
      await row(
        warehouse,
        `select resource, id, source, payload ->> 'id' as payload from finance.deleted_records where connection_id = $1`,
        [connection],
      ),
    ).toEqual({ resource: 'bills', id, source: 'reconcile', payload: id });
    expect(
      await rows(warehouse, 'select from finance.bill_lines where connection_id = $1 and bill_id = $2', [
        connection,
        id,
      ]),
    ).toEqual([]);
    expect((await installation.compare(connection)).differences).toEqual([]);
  });

  proofTest('removes the row from finance even if its version was nulled', async () => {
    const connection = await synced();
    const id = await deleteWithoutEvent(connection, 'customers');
    await warehouse.pool.query(
      'update finance.customers set last_synced_at = null where connection_id = $1 and id = $2',
      [connection, id],
    );
    const { run } = await reconcile(installation, connection, { resources: ['customers'] });
    expect(run.status).toBe('succeeded');
    expect(await heldIds(connection, 'customers')).not.toContain(id);
    expect((await installation.compare(connection)).differences).toEqual([]);
  });

  test.each(some([404, 410]))('is confirmed by a %i', async (missingRecordStatus) => {
    const connection = await synced();
    const id = await deleteWithoutEvent(connection, 'customers');
    await admin.configure({ missingRecordStatus });
    await reconcile(installation, connection, { resources: ['customers'] });
    expect(await heldIds(connection, 'customers')).not.toContain(id);
  });

  test('is confirmed by a second complete listing when the service answers 404 to every fetch', async () => {
    const connection = await synced();
    const id = await deleteWithoutEvent(connection, 'bills');
    await answer404ToFetches(connection);
    await admin.clearRequests();
    const { run } = await reconcile(installation, connection, { resources: ['bills'] });
    expect(run).toMatchObject({ status: 'succeeded', failure: null });
    expect((await listFetches(connection))[0]).toBe(`/accounting/bills/${id}`);
    expect(await countListings(connection, '/accounting/bills')).toBe(2);
    expect(await heldIds(connection, 'bills')).not.toContain(id);
    expect((await installation.compare(connection)).differences).toEqual([]);
  });

  proofTest('of a resource whose deletions are never announced is found', async () => {
    const connection = await synced();
    const id = await deleteWithoutEvent(connection, 'bill_credit_memos');
    await reconcile(installation, connection);
    expect(await heldIds(connection, 'bill_credit_memos')).not.toContain(id);
    expect((await installation.compare(connection)).differences).toEqual([]);
  });

  proofTest('of a subscription is confirmed by a second complete listing', async () => {
    const connection = await synced();
    const id = await deleteWithoutEvent(connection, 'subscriptions');
    await admin.clearRequests();
    const { run } = await reconcile(installation, connection);
    expect(run.status).toBe('succeeded');
    expect(await countListings(connection, '/subscriptions')).toBe(2);
    expect(await heldIds(connection, 'subscriptions')).not.toContain(id);
    expect((await installation.compare(connection)).differences).toEqual([]);
  });

  proofTest(
    'of more records than a listing has pages is confirmed by a second complete listing',
    async () => {
      const connection = await synced();
      const ids = await deleteSomeWithoutEvent(connection, 'bills', 5);
      await admin.clearRequests();
      const { run } = await reconcile(installation, connection);
      expect(run.status).toBe('succeeded');
      expect(await listFetches(connection)).toEqual([]);
      expect(await countListings(connection, '/accounting/bills')).toBe(2);
      expect(
        (await readFoundDiscrepancies(installation, connection)).map(({ record_id }) => record_id),
      ).toEqual(ids);
      expect((await installation.compare(connection)).differences).toEqual([]);
    },
  );

  proofTest('of a record that never landed closes its quarantine entry', async () => {
    const connection = await synced();
    const record = bill('never-landed', { memo: '7' });
    await admin.execute({ kind: 'add', connection, resource: 'bills', record });
    expect((await sync(installation, connection)).run.status).toBe('partial');
    await admin.execute({ kind: 'delete', connection, resource: 'bills', id: 'never-landed', event: false });
    const { run } = await reconcile(installation, connection);
    expect(run.status).toBe('succeeded');
    expect(await listFetches(connection)).toEqual(['/accounting/bills/never-landed']);
    expect(
      await rows(warehouse, `select status, closed_why from sync.quarantine where connection_id = $1`, [
        connection,
      ]),
    ).toEqual([{ status: 'discarded', closed_why: 'the record was deleted at the source' }]);
    expect((await installation.compare(connection)).differences).toEqual([]);
  });

  test('is reversed when the record is re-created in a newer version', async () => {
    const connection = await synced();
    const id = await deleteWithoutEvent(connection, 'bills');
    await reconcile(installation, connection);
    // The service's `Date` has whole seconds, so in the second of its answer that the record is gone, no version is certainly newer.
    await admin.execute({ kind: 'set-clock', offsetMs: 1_000 });
    await admin.execute({ kind: 'recreate', connection, resource: 'bills', id });
    await sync(installation, connection);
    expect(await heldIds(connection, 'bills')).toContain(id);
    expect(
      await rows(warehouse, 'select from finance.deleted_records where connection_id = $1', [connection]),
    ).toEqual([]);
    const { run } = await reconcile(installation, connection);
    expect(run.status).toBe('succeeded');
  });
});

describe('a record missing from the list but held by the source', () => {
  test('is kept when a fetch returns it, and the reconcile succeeds', async () => {
    const connection = await synced();
    const [id = ''] = await heldIds(connection, 'bills');
    await hideFromLists(connection, 'bills', id);
    const { run } = await reconcile(installation, connection);
    expect(run).toMatchObject({ status: 'succeeded', failure: null });
    expect(await heldIds(connection, 'bills')).toContain(id);
    expect(await readFoundDiscrepancies(installation, connection)).toEqual([
      { resource: 'bills', record_id: id, kind: 'extra', status: 'dismissed' },
    ]);
    expect((await installation.compare(connection)).differences).toEqual([]);
  });

  proofTest('is kept when every fetch answers 404 and the second listing shows it', async () => {
    const connection = await synced();
    const [id = ''] = await heldIds(connection, 'bills');
    await deleteThenRecreate(connection, { resource: 'bills', id, path: '/accounting/bills' });
    await answer404ToFetches(connection);
    const { run } = await reconcile(installation, connection, { resources: ['bills'] });
    expect(run).toMatchObject({ status: 'succeeded', failure: null });
    expect(await readFoundDiscrepancies(installation, connection)).toEqual([
      { resource: 'bills', record_id: id, kind: 'extra', status: 'dismissed' },
    ]);
    await expectKept(connection, 'bills', [id]);
    expect((await listFetches(connection))[0]).toBe(`/accounting/bills/${id}`);
  });

  proofTest('is brought up to date by the fetch', async () => {
    const connection = await synced();
    const [id = ''] = await heldIds(connection, 'bills');
    await admin.execute({ kind: 'change', connection, resource: 'bills', id, patch: '{"memo":"hidden"}' });
    await admin.configure({ listLagMs: 3_600_000 });
    await reconcile(installation, connection);
    expect(
      await row(warehouse, 'select memo from finance.bills where connection_id = $1 and id = $2', [
        connection,
        id,
      ]),
    ).toEqual({ memo: 'hidden' });
  });

  proofTest('is kept when the second listing shows it, and the reconcile succeeds', async () => {
    const connection = await synced();
    const [id = ''] = await heldIds(connection, 'subscriptions');
    await deleteThenRecreate(connection, { resource: 'subscriptions', id, path: '/subscriptions' });
    const { run } = await reconcile(installation, connection, { resources: ['subscriptions'] });
    expect(run).toMatchObject({ status: 'succeeded', failure: null });
    expect(await readFoundDiscrepancies(installation, connection)).toEqual([
      { resource: 'subscriptions', record_id: id, kind: 'extra', status: 'dismissed' },
    ]);
    expect((await installation.compare(connection)).differences).toEqual([]);
  });

  proofTest('makes the next sync partial if newer than the watermark, until the list shows it', async () => {
    const connection = await synced();
    const [id = ''] = await heldIds(connection, 'bills');
    await hideFromLists(connection, 'bills', id);
    await reconcile(installation, connection);
    const stalled = await sync(installation, connection);
    expect(stalled.failure).toBeUndefined();
    expect(stalled.run).toMatchObject({
      status: 'partial',
      failure: expect.stringMatching(/newer records than its list shows.*Run "daybook reconcile"/) as string,
    });
    expect(stalled.run.streams.find(({ stream }) => stream === 'bills')).toMatchObject({
      status: 'partial',
      failure_type: 'Stalled',
      watermark_after: stalled.run.streams.find(({ stream }) => stream === 'bills')?.watermark_before,
    });
    expect((await sync(installation, connection)).run.status).toBe('partial');
    await admin.configure({});
    expect((await sync(installation, connection)).run).toMatchObject({ status: 'succeeded', failure: null });
    expect((await sync(installation, connection)).run.status).toBe('succeeded');
  });

  proofTest('no longer stalls the stream once it is deleted', async () => {
    const connection = await synced();
    const [id = ''] = await heldIds(connection, 'bills');
    await hideFromLists(connection, 'bills', id);
    await reconcile(installation, connection);
    expect((await sync(installation, connection)).run.status).toBe('partial');
    await admin.execute({ kind: 'delete', connection, resource: 'bills', id });
    expect((await sync(installation, connection)).run).toMatchObject({ status: 'succeeded', failure: null });
  });

  proofTest('a record read by a reconcile and then by the next sync does not stall the stream', async () => {
    const connection = await synced();
    await admin.execute({ kind: 'add', connection, resource: 'bills', record: bill('new') });
    await reconcile(installation, connection);
    expect((await sync(installation, connection)).run).toMatchObject({ status: 'succeeded', failure: null });
  });
});

describe('a reconcile infers no wrong deletion from', () => {
  test('a listing that failed partway', async () => {
    const connection = await synced();
    const ids = await deleteSomeWithoutEvent(connection, 'bills', 3);
    await admin.configure({ maximumLimit: 30 });
    await admin.addFault({
      match: { connection, path: '/accounting/bills' },
      after: 2,
      fault: { kind: 'status', status: 500 },
    });
    const { run } = await reconcile(installation, connection);
    expect(run.status).toBe('partial');
    expect(statusesOf(run)).toMatchObject({ bills: 'failed', customers: 'succeeded' });
    await expectKept(connection, 'bills', ids);
    expect((await readProofs(installation, run)).bills).toBeNull();
    await admin.clearFaults();
    expect((await reconcile(installation, connection)).run.status).toBe('succeeded');
    expect((await installation.compare(connection)).differences).toEqual([]);
  });

  proofTest('a failure of the refund list, so that no expense counts as missing', async () => {
    const connection = await synced();
    const ids = await deleteSomeWithoutEvent(connection, 'expenses', 2);
    await admin.addFault({
      match: { connection, path: '/accounting/expenses', query: 'expense_type=refund' },
      fault: { kind: 'status', status: 400 },
    });
    const { run } = await reconcile(installation, connection);
    expect(statusesOf(run)).toMatchObject({ refunds: 'failed' });
    expect(run.status).toBe('partial');
    await expectKept(connection, 'expenses', ids);
    expect((await readProofs(installation, run)).expenses).toBeNull();
  });

  proofTest('a 404 from a list', async () => {
    const connection = await synced();
    const before = await heldIds(connection, 'items');
    await admin.addFault({
      match: { connection, path: '/accounting/items' },
      fault: { kind: 'status', status: 404 },
    });
    const { run } = await reconcile(installation, connection);
    expect(run.status).toBe('partial');
    expect(statusesOf(run).items).toBe('failed');
    await expectKept(connection, 'items', before);
    expect((await readProofs(installation, run)).items).toBeNull();
  });

  proofTest('a second listing that failed', async () => {
    const connection = await synced();
    const id = await deleteWithoutEvent(connection, 'subscriptions');
    await admin.addFault({
      match: { connection, path: '/subscriptions' },
      after: 1,
      fault: { kind: 'status', status: 500 },
    });
    const { run } = await reconcile(installation, connection, { resources: ['subscriptions'] });
    expect(run.status).toBe('failed');
    await expectKept(connection, 'subscriptions', [id]);
  });

  proofTest(
    'a fetch that keeps failing while others succeed, so that its record waits for the next reconcile',
    async () => {
      const connection = await synced();
      const id = await deleteWithoutEvent(connection, 'bills');
      await admin.addFault({
        match: { connection, path: `/accounting/bills/${id}` },
        fault: { kind: 'status', status: 500 },
      });
      const { run } = await reconcile(installation, connection);
      expect(run.status).toBe('partial');
      expect(run.streams.find(({ stream }) => stream === 'bills')).toMatchObject({
        status: 'partial',
        failure_type: 'NotEqual',
      });
      await expectKept(connection, 'bills', [id]);
      await admin.clearFaults();
      expect((await reconcile(installation, connection)).run.status).toBe('succeeded');
      expect(await heldIds(connection, 'bills')).not.toContain(id);
    },
  );

  proofTest('a fetch that the service rate-limited once', async () => {
    const connection = await synced();
    const id = await deleteWithoutEvent(connection, 'bills');
    await admin.addFault({
      match: { connection, path: `/accounting/bills/${id}` },
      times: 1,
      fault: { kind: 'status', status: 429, code: 'RATE_LIMIT_EXCEEDED', retryAfter: '1' },
    });
    const { run } = await reconcile(installation, connection);
    expect(run.status).toBe('succeeded');
    expect(await heldIds(connection, 'bills')).not.toContain(id);
  });

  proofTest('a not-ready response from the service', async () => {
    const connection = await synced();
    const ids = await deleteSomeWithoutEvent(connection, 'customers', 2);
    await admin.addFault({ match: { connection }, times: 7, fault: { kind: 'not-ready' } });
    const { run } = await reconcile(installation, connection);
    expect(run.status).toBe('succeeded');
    expect(
      (await readFoundDiscrepancies(installation, connection)).map(({ record_id }) => record_id),
    ).toEqual(ids);
    expect((await installation.compare(connection)).differences).toEqual([]);
  });

  proofTest('a listing with an invalid record, whose ID counts as listed', async () => {
    const connection = await synced();
    const [id = ''] = await heldIds(connection, 'subscriptions');
    await admin.execute({ kind: 'change', connection, resource: 'subscriptions', id, patch: '{"status":7}' });
    const { run } = await reconcile(installation, connection);
    expect(run.status).toBe('partial');
    await expectKept(connection, 'subscriptions', [id]);
  });
});

async function synced(): Promise<string> {
  const connection = await installation.connect();
  expect((await sync(installation, connection)).run.status).toBe('succeeded');
  return connection;
}

async function deleteWithoutEvent(connection: string, resource: ResourceName): Promise<string> {
  const [id = ''] = await deleteSomeWithoutEvent(connection, resource, 1);
  return id;
}

/** Deletes records at the source without an event. Returns their ids in order. */
async function deleteSomeWithoutEvent(
  connection: string,
  resource: ResourceName,
  count: number,
): Promise<string[]> {
  const ids = (await heldIds(connection, resource)).slice(0, count);
  await admin.execute(
    ...ids.map((id) => ({ kind: 'delete' as const, connection, resource, id, event: false })),
  );
  return ids;
}

/** Makes lists hide the record for an hour, while fetches show it. */
async function hideFromLists(connection: string, resource: ResourceName, id: string): Promise<void> {
  await admin.execute({ kind: 'touch', connection, resource, ids: [id] });
  await admin.configure({ listLagMs: 3_600_000 });
}

/** Answers 404 to fetches, as a platform does whose records cannot be fetched by id. */
async function answer404ToFetches(connection: string): Promise<void> {
  const match = { connection, path: '/accounting/bills/' };
  await admin.addFault({ match, fault: { kind: 'status', status: 404 } });
}

/** Deletes the record during the first request to its list, and recreates it with the second. */
async function deleteThenRecreate(
  connection: string,
  { resource, id, path }: { resource: ResourceName; id: string; path: string },
): Promise<void> {
  const record = { connection, resource, id };
  for (const command of [
    { kind: 'delete' as const, ...record, event: false },
    { kind: 'recreate' as const, ...record },
  ])
    await admin.addFault({
      // Fetches have no limit.
      match: { connection, path, query: 'limit=' },
      times: 1,
      fault: { kind: 'mutate', commands: [command] },
    });
}

async function heldIds(connection: string, resource: ResourceName): Promise<string[]> {
  const held = await rows(
    warehouse,
    `select id from finance.${resource} where connection_id = $1 order by id`,
    [connection],
  );
  return held.map(({ id }) => String(id));
}

async function expectKept(connection: string, resource: ResourceName, ids: readonly string[]): Promise<void> {
  expect(await heldIds(connection, resource)).toEqual(expect.arrayContaining([...ids]));
  expect(await readTombstones(connection)).toEqual([]);
}

function readTombstones(connection: string): Promise<Row[]> {
  return rows(warehouse, 'select record_id from sync.tombstones where connection_id = $1', [connection]);
}

async function listFetches(connection: string): Promise<string[]> {
  const paths = (await readRequests(connection)).map(({ path }) => path);
  return paths.filter((path) => /^\/accounting\/\w+\/.+/.test(path));
}

/** The number of times that a list was read from its beginning. */
async function countListings(connection: string, listPath: string): Promise<number> {
  const asked = (await readRequests(connection)).filter(({ path }) => path === listPath);
  const queries = asked.map(({ query }) => new URLSearchParams(query));
  // A request for a single record is not a listing.
  return queries.filter((query) => !query.has('cursor') && query.get('limit') !== '1').length;
}

async function readRequests(connection: string): Promise<{ path: string; query: string }[]> {
  return (await admin.requests()).filter((request) => request.connection === connection);
}
