import { describe, expect, test } from 'vitest';
import { discardEntries } from '../../warehouse/quarantine/discard-entries.ts';
import { listQuarantine } from '../../warehouse/quarantine/read-quarantine.ts';
import { findAbsent } from '../../warehouse/reconcile/find-absent.ts';
import { finishResource } from '../../warehouse/reconcile/finish-resource.ts';
import { pruneWarehouse } from '../../warehouse/retention/prune-warehouse.ts';
import { bill } from '../support/finance-records.ts';
import { buildDeletionEvent, landEvents } from '../support/land-events.ts';
import { landListing, type Listing } from '../support/land-listing.ts';
import { land } from '../support/land.ts';
import { rows, type Row } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse } = await createTestDatabase();

const first = { last_synced_at: '"2024-02-01T00:00:00.000Z"' };
const later = { last_synced_at: '"2024-02-02T00:00:00.000Z"' };
const undated = { last_synced_at: '"soon"' };
const bad = { memo: '7' };

describe('a record without a usable ID', () => {
  test.each([
    ['is missing', undefined],
    ['is half of a surrogate pair', String.raw`"a\ud800"`],
  ])('has one entry per content when its ID %s and only last_synced_at moves', async (_, id) => {
    const connectionId = await addTestConnection(warehouse);
    const others = { id, ...later, memo: '"another"' };
    await landBills(connectionId, bill('', { id, ...first }));
    await landBills(connectionId, bill('', { id, ...later }), bill('', others), bill('', others));
    expect(await entriesOf(connectionId)).toMatchObject([
      { record_id: null, status: 'open', payload: bill('', { id, ...later }) },
      { record_id: null, status: 'open', payload: bill('', others) },
    ]);
  });

  test('is closed when a complete listing no longer shows it, and reopened when a list does', async () => {
    const connectionId = await addTestConnection(warehouse);
    const [gone, kept] = [bill('', { ...first, memo: '"gone"' }), bill('', { ...first, memo: '"kept"' })];
    await landBills(connectionId, gone, kept);
    await finish(await list(connectionId, [kept], '2024-03-01T00:00:00Z'));
    expect(await entriesOf(connectionId)).toMatchObject([
      { status: 'discarded', closed_why: 'a complete listing no longer shows it', payload: gone },
      { status: 'open', payload: kept },
    ]);
    await landBills(connectionId, gone);
    expect((await openOf(connectionId)).map(({ payload }) => payload).sort()).toEqual([gone, kept].sort());
  });

  test.each([
    ['stays: it is younger than a list may lag', first, '2024-02-01T00:09:00Z', '0', 'open'],
    ['is closed: it is older', first, '2024-02-01T00:11:00Z', '0', 'discarded'],
    [
      'stays: nobody knows how old it is, and it was met just now',
      undated,
      '2024-03-01T00:00:00Z',
      '0',
      'open',
    ],
    ['stays: the service does not tell its time, and it was met just now', first, null, '0', 'open'],
    ['is closed: it was met longer ago than a list may lag', undated, null, '11 minutes', 'discarded'],
  ])('missing from a listing %s', async (_, version, servedAt, ago, status) => {
    const connectionId = await addTestConnection(warehouse);
    await landBills(connectionId, bill('', version));
    await warehouse.pool.query(
      `update sync.quarantine set last_seen_at = last_seen_at - $2::interval where connection_id = $1`,
      [connectionId, ago],
    );
    await finish(await list(connectionId, [], servedAt));
    expect(await entriesOf(connectionId)).toMatchObject([{ status }]);
  });

  test('stays open when another run read it after the listing had begun', async () => {
    const connectionId = await addTestConnection(warehouse);
    const record = bill('', first);
    await landBills(connectionId, record);
    const listing = await list(connectionId, []);
    await landBills(connectionId, record);
    await finish(listing);
    expect(await openOf(connectionId)).toHaveLength(1);
  });
});

describe('an ID that is not well-formed text is unusable', () => {
  const id = String.raw`"a\ud800"`;

  test('and does not block the reconcile of its resource', async () => {
    const connectionId = await addTestConnection(warehouse);
    await landBills(connectionId, bill('a'), bill('', { id }), bill('gone'));
    const listing = await list(connectionId, [bill('a'), bill('', { id })]);
    expect(await findAbsent(warehouse, listing)).toMatchObject({ absent: 1 });
    await finish(listing);
    expect(await openOf(connectionId)).toMatchObject([
      { record_id: null, reason: 'id is not well-formed text: it has half of a surrogate pair' },
    ]);
  });

  test('and its deletion event does not delete another record', async () => {
    const connectionId = await addTestConnection(warehouse);
    await landBills(connectionId, bill('a\ufffd'));
    const data = `{"id":${id},"deleted_at":"2024-03-01T00:00:00Z"}`;
    await landEvents(warehouse, {
      connectionId,
      events: [buildDeletionEvent('x', '2024-03-01T00:00:00.000Z', { data })],
    });
    expect(
      await rows(warehouse, 'select id from finance.bills where connection_id = $1', [connectionId]),
    ).toEqual([{ id: 'a\ufffd' }]);
    expect(await openOf(connectionId)).toMatchObject([
      { record_id: null, reason: 'a deletion that does not say of which record' },
    ]);
  });
});

describe('a record with text that Postgres cannot store is quarantined with a reason, even from a listing', () => {
  test.each([
    ['half of a pair in a text', { memo: String.raw`"\udc00"` }],
    ['half of a pair in an unknown field', { novelty: String.raw`"\ud83d\u0041"` }],
    ['half of a pair in a key', { platform_data: String.raw`{"novel\ud800ty":1}` }],
    ['half of a pair in a key of a line', { line_items: String.raw`[{"\ud800":1}]` }],
    ['half of a pair in a decimal string', { currency_rate: String.raw`"1\ud800"` }],
  ])('%s', async (_, fields) => {
    const connectionId = await addTestConnection(warehouse);
    const listing = await list(connectionId, [bill('a'), bill('b', fields), bill('c')]);
    await finish(listing);
    expect(await openOf(connectionId)).toMatchObject([
      { record_id: 'b', reason: expect.stringMatching(/^Postgres refuses it: ./) as string },
    ]);
    expect(await heldIds(connectionId)).toEqual(['a', 'c']);
  });

  test('a NUL in a key lands as U+FFFD', async () => {
    const connectionId = await addTestConnection(warehouse);
    await finish(await list(connectionId, [bill('a', { platform_data: String.raw`{"novel\u0000ty":1}` })]));
    expect(await openOf(connectionId)).toEqual([]);
    expect(await heldIds(connectionId)).toEqual(['a']);
  });
});

describe('a discarded record', () => {
  test.each([
    ['with an id', 'b'],
    ['without one', ''],
    ['that is no JSON to Postgres', String.raw`x\ud800`],
  ])('is not quarantined again when only last_synced_at moves: a record %s', async (_, id) => {
    const connectionId = await addTestConnection(warehouse);
    await landBills(connectionId, bill(id, { ...first, ...bad, id: `"${id}"` }));
    await discardAll(connectionId);
    await landBills(connectionId, bill(id, { ...later, ...bad, id: `"${id}"` }));
    expect(await openOf(connectionId)).toEqual([]);
    await landBills(connectionId, bill(id, { ...later, memo: '8', id: `"${id}"` }));
    expect(await openOf(connectionId)).toHaveLength(1);
  });

  test('is quarantined again when a nested last_synced_at moves, which is content', async () => {
    const connectionId = await addTestConnection(warehouse);
    const nested = (day: string): string => `{"last_synced_at":"2024-01-0${day}"}`;
    await landBills(connectionId, bill('b', { ...bad, platform_data: nested('1') }));
    await discardAll(connectionId);
    await landBills(connectionId, bill('b', { ...bad, platform_data: nested('2') }));
    expect(await openOf(connectionId)).toHaveLength(1);
  });

  test('is not quarantined again after pruning, which deletes its text', async () => {
    const connectionId = await addTestConnection(warehouse);
    await landBills(connectionId, bill('b', { ...first, ...bad }), bill('', first));
    await discardAll(connectionId);
    await warehouse.pool.query(
      `update sync.quarantine set closed_at = now() - interval '1 year' where connection_id = $1`,
      [connectionId],
    );
    // The watermark passed it long ago.
    await warehouse.pool.query(`update sync.streams set watermark = now() where connection_id = $1`, [
      connectionId,
    ]);
    expect(await prune(true)).toMatchObject({ 'sync.quarantine': 2 });
    expect(await prune(false)).toMatchObject({ 'sync.quarantine': 2 });
    expect(await prune(false)).toMatchObject({ 'sync.quarantine': 0 });
    expect(await entriesOf(connectionId)).toMatchObject([
      { status: 'discarded', closed_why: 'not wanted', payload: '' },
      { status: 'discarded', closed_why: 'not wanted', payload: '' },
    ]);
    await landBills(connectionId, bill('b', { ...later, ...bad }), bill('', later));
    expect(await openOf(connectionId)).toEqual([]);
  });

  test('differs from a deleted record, which is quarantined again in a newer version with the same content', async () => {
    const connectionId = await addTestConnection(warehouse);
    await landBills(connectionId, bill('b', { ...first, ...bad }));
    await landEvents(warehouse, {
      connectionId,
      events: [buildDeletionEvent('b', '2024-02-01T12:00:00.000Z')],
    });
    expect(await openOf(connectionId)).toEqual([]);
    await landBills(connectionId, bill('b', { ...first, ...bad }));
    expect(await openOf(connectionId)).toEqual([]);
    await landBills(connectionId, bill('b', { ...later, ...bad }));
    expect(await openOf(connectionId)).toHaveLength(1);
  });
});

describe('the entry of a bad version', () => {
  test('stays open when an older good version arrives', async () => {
    const connectionId = await addTestConnection(warehouse);
    await landBills(connectionId, bill('b', { ...later, ...bad }));
    await landBills(connectionId, bill('b', first));
    await landBills(connectionId, bill('b', first));
    expect(await openOf(connectionId)).toMatchObject([{ record_id: 'b' }]);
  });

  test.each([
    ['as old', later],
    ['newer', { last_synced_at: '"2024-02-02T00:00:00.000001Z"' }],
  ])('is closed by a good version that is %s', async (_, version) => {
    const connectionId = await addTestConnection(warehouse);
    await landBills(connectionId, bill('b', { ...later, ...bad }));
    await landBills(connectionId, bill('b', version));
    expect(await entriesOf(connectionId)).toMatchObject([{ status: 'landed' }]);
  });

  test.each([
    ['is no time', '"soon"'],
    ['is a number', '7'],
  ])('is closed by any good version when its own version %s', async (_, version) => {
    const connectionId = await addTestConnection(warehouse);
    await landBills(connectionId, bill('b', { last_synced_at: version }));
    await landBills(connectionId, bill('b', first));
    expect(await entriesOf(connectionId)).toMatchObject([{ status: 'landed' }]);
  });
});

async function landBills(connectionId: string, ...records: string[]): Promise<void> {
  await land(warehouse, { connectionId, stream: 'bills', pages: [records] });
}

function list(
  connectionId: string,
  records: readonly string[],
  servedAt: string | null = null,
): Promise<Listing> {
  return landListing(warehouse, {
    connectionId,
    stream: 'bills',
    records,
    ...(servedAt !== null && { servedAt: new Date(servedAt) }),
  });
}

test('an entry that changed since it was shown is not discarded until it is shown again', async () => {
  const connectionId = await addTestConnection(warehouse);
  await landBills(connectionId, bill('a', { ...first, ...bad }));
  const shown = await listQuarantine(warehouse, { all: false, connectionId });
  await landBills(connectionId, bill('a', { ...later, memo: '8' }));
  expect(await discardEntries(warehouse, { entries: shown, why: 'not wanted' })).toEqual([]);
  const [now] = await openOf(connectionId);
  expect(now).toMatchObject({ record_id: 'a', payload: bill('a', { ...later, memo: '8' }) });
  await discardAll(connectionId);
  expect(await openOf(connectionId)).toEqual([]);
});

test('an entry can be discarded when only last_synced_at has moved since it was shown', async () => {
  const connectionId = await addTestConnection(warehouse);
  await landBills(connectionId, bill('a', { ...first, ...bad }));
  const entries = await listQuarantine(warehouse, { all: false, connectionId });
  await landBills(connectionId, bill('a', { ...later, ...bad }));
  expect(await discardEntries(warehouse, { entries, why: 'not wanted' })).toEqual(
    entries.map(({ id }) => id),
  );
});

async function finish(listing: Listing): Promise<void> {
  await finishResource(warehouse, { ...listing, waiting: 0, held: 0, before: 0 });
}

async function discardAll(connectionId: string): Promise<void> {
  const entries = await listQuarantine(warehouse, { all: false, connectionId });
  await discardEntries(warehouse, { entries, why: 'not wanted' });
}

function prune(dryRun: boolean): Promise<Record<string, number>> {
  const keep = { runsMilliseconds: 90 * 86_400_000, historyMilliseconds: null };
  return pruneWarehouse(warehouse, { keep, dryRun });
}

function entriesOf(connectionId: string): Promise<Row[]> {
  return rows(
    warehouse,
    `select record_id, status, closed_why, reason, payload from sync.quarantine where connection_id = $1 order by id`,
    [connectionId],
  );
}

async function openOf(connectionId: string): Promise<Row[]> {
  return (await entriesOf(connectionId)).filter(({ status }) => status === 'open');
}

async function heldIds(connectionId: string): Promise<unknown[]> {
  const held = await rows(warehouse, 'select id from finance.bills where connection_id = $1 order by id', [
    connectionId,
  ]);
  return held.map(({ id }) => id);
}
