import { describe, expect, test } from 'vitest';
import { rebuildConnection } from '../../operations/rebuild-connection.ts';
import { sourceRecord } from '../../resources/source-record.ts';
import {
  confirmAbsent,
  confirmBySecondListing,
  endOfSecond,
  listAgain,
} from '../../warehouse/reconcile/confirm-absent.ts';
import { deleteAbsent } from '../../warehouse/reconcile/delete-absent.ts';
import { findAbsent } from '../../warehouse/reconcile/find-absent.ts';
import { finishResource } from '../../warehouse/reconcile/finish-resource.ts';
import { landAhead } from '../../warehouse/reconcile/land-ahead.ts';
import { bill, subscription } from '../support/finance-records.ts';
import { buildDeletionEvent, landEvents } from '../support/land-events.ts';
import { landListing, openListing, type Listing } from '../support/land-listing.ts';
import { land, landRecords } from '../support/land.ts';
import { row, rows, type Row } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse } = await createTestDatabase();

const wrong = bill('b', { memo: '"of the future"', last_synced_at: '"2027-01-01T00:00:00Z"' });
const right = bill('b', { memo: '"corrected"', last_synced_at: '"2026-01-01T00:00:00Z"' });

describe('a record that a complete listing shows with other content, in an older version than the held one', () => {
  test('is unequal, and is repaired when a fetch confirms the listing', async () => {
    const connectionId = await held(wrong);
    const listing = await landListing(warehouse, { connectionId, stream: 'bills', records: [right] });
    expect(await findAbsent(warehouse, listing)).toMatchObject({ absent: 0, ahead: 1 });
    expect(await readMemo(connectionId)).toBe('of the future');
    await fetched(listing, right);
    expect(await readMemo(connectionId)).toBe('corrected');
    expect(await settle(listing)).toEqual({ equal: true });
    expect(await readDiscrepancies(connectionId)).toEqual([{ kind: 'ahead', status: 'repaired' }]);
  });

  test('is repaired with equal content too, and a rebuild does not restore the wrong version', async () => {
    const wrongClock = bill('b', { last_synced_at: '"2027-01-01T00:00:00Z"' });
    const connectionId = await held(wrongClock);
    const shown = bill('b', { last_synced_at: '"2026-01-01T00:00:00Z"' });
    const listing = await landListing(warehouse, {
      connectionId,
      stream: 'bills',
      records: [shown],
      servedAt: new Date('2026-01-01T00:00:01Z'),
    });
    expect(await findAbsent(warehouse, listing)).toMatchObject({ ahead: 1 });
    await fetched(listing, shown);
    const version = new Date('2026-01-01T00:00:00Z');
    const stored = `select last_synced_at from finance.bills where connection_id = $1`;
    expect(await rows(warehouse, stored, [connectionId])).toEqual([{ last_synced_at: version }]);
    await rebuildConnection(warehouse, {
      connectionId,
      resources: [listing.resource],
      onBatch: () => undefined,
    });
    expect(await rows(warehouse, stored, [connectionId])).toEqual([{ last_synced_at: version }]);
    const versions = `select op from history.record_versions where connection_id = $1`;
    expect(await rows(warehouse, versions, [connectionId])).toHaveLength(1);
  });

  test('keeps the run unequal until it is decided', async () => {
    const connectionId = await held(wrong);
    const listing = await landListing(warehouse, { connectionId, stream: 'bills', records: [right] });
    await findAbsent(warehouse, listing);
    expect(await settle(listing)).toEqual({ equal: false });
    expect(
      await row(warehouse, 'select status, failure_type from sync.run_streams where run_id = $1', [
        listing.runId,
      ]),
    ).toEqual({ status: 'partial', failure_type: 'NotEqual' });
  });

  test('stays unchanged when the list lags and a fetch returns the newer version', async () => {
    const connectionId = await held(wrong);
    const listing = await landListing(warehouse, { connectionId, stream: 'bills', records: [right] });
    await findAbsent(warehouse, listing);
    await fetched(listing, wrong);
    expect(await readMemo(connectionId)).toBe('of the future');
    expect(await settle(listing)).toEqual({ equal: true });
    expect(await readDiscrepancies(connectionId)).toEqual([{ kind: 'ahead', status: 'dismissed' }]);
  });

  test('is not reported when another run has written it since the listing began', async () => {
    const connectionId = await held(right);
    const listing = await openAndOvertake(connectionId);
    expect(await findAbsent(warehouse, listing)).toMatchObject({ absent: 0, ahead: 0 });
    expect(await settle(listing)).toEqual({ equal: true });
    expect(await readDiscrepancies(connectionId)).toEqual([]);
  });

  test('keeps a newer version that another run wrote during the fetch', async () => {
    const connectionId = await held(wrong);
    const listing = await landListing(warehouse, { connectionId, stream: 'bills', records: [right] });
    await findAbsent(warehouse, listing);
    const newer = bill('b', { memo: '"newer"', last_synced_at: '"2027-02-01T00:00:00Z"' });
    await land(warehouse, { connectionId, stream: 'bills', pages: [[newer]] });
    await fetched(listing, right);
    expect(await readMemo(connectionId)).toBe('newer');
  });
});

describe('two reconciles in a row that show the same record, when it cannot be fetched', () => {
  const ahead = subscription('s', { status: '"active"', updated_at: '"2027-01-01T00:00:00Z"' });
  const shown = subscription('s', { status: '"canceled"', updated_at: '"2026-01-01T00:00:00Z"' });
  const other = subscription('s', { status: '"paused"', updated_at: '"2026-01-02T00:00:00Z"' });

  test('repair the record, but one does not', async () => {
    const connectionId = await heldSubscription(ahead);
    expect(await reconcileSubscriptions(connectionId, [shown, other2])).toEqual({ equal: false });
    expect(await readStatus(connectionId)).toBe('active');
    expect(await reconcileSubscriptions(connectionId, [shown, other2])).toEqual({ equal: true });
    expect(await readStatus(connectionId)).toBe('canceled');
    expect(await reconcileSubscriptions(connectionId, [shown, other2])).toEqual({ equal: true });
    expect(await readDiscrepancies(connectionId)).toEqual([{ kind: 'ahead', status: 'repaired' }]);
  });

  test('must be further apart than the maximum lag of a list', async () => {
    const connectionId = await heldSubscription(ahead);
    const at = (time: string): { servedAt: Date } => ({ servedAt: new Date(`2027-01-01T${time}Z`) });
    const statuses: unknown[] = [];
    for (const time of ['00:00:30', '00:05:00', '00:10:31']) {
      await reconcileSubscriptions(connectionId, [shown, other2], at(time));
      statuses.push(await readStatus(connectionId));
    }
    expect(statuses).toEqual(['active', 'active', 'canceled']);
  });

  test('must also be far apart by the database clock, since the service clock may be corrected in between', async () => {
    const connectionId = await heldSubscription(ahead);
    for (const hour of ['01', '03']) {
      const servedAt = new Date(`2027-01-01T${hour}:00:00Z`);
      await reconcileSubscriptions(connectionId, [shown, other2], { servedAt, hoursAgo: 0 });
      expect(await readStatus(connectionId)).toBe('active');
    }
  });

  test('must show the same version', async () => {
    const connectionId = await heldSubscription(ahead);
    expect(await reconcileSubscriptions(connectionId, [shown, other2])).toEqual({ equal: false });
    expect(await reconcileSubscriptions(connectionId, [other, other2])).toEqual({ equal: false });
    expect(await readStatus(connectionId)).toBe('active');
    expect(await reconcileSubscriptions(connectionId, [other, other2])).toEqual({ equal: true });
    expect(await readStatus(connectionId)).toBe('paused');
  });

  test('restore a deleted record that was re-created with the same updated_at', async () => {
    const connectionId = await heldSubscription(shown);
    const listing = await landListing(warehouse, {
      connectionId,
      stream: 'subscriptions',
      records: [other2],
    });
    await findAbsent(warehouse, listing);
    await confirmAbsent(warehouse, listing, { recordId: 's', goneBy: null, metAt: null });
    await settle(listing);
    expect(await readStatus(connectionId)).toBeUndefined();
    expect(await reconcileSubscriptions(connectionId, [shown, other2])).toEqual({ equal: false });
    expect(await reconcileSubscriptions(connectionId, [shown, other2])).toEqual({ equal: true });
    expect(await readStatus(connectionId)).toBe('canceled');
    expect(
      await rows(warehouse, 'select from finance.deleted_records where connection_id = $1', [connectionId]),
    ).toEqual([]);
  });
});

const other2 = subscription('t');

describe('a record re-created in an older version than its tombstone', () => {
  test('is found by the next reconcile, and restored by a fetch', async () => {
    const connectionId = await held(right);
    await landEvents(warehouse, { connectionId, events: [buildDeletionEvent('b', '2026-03-01T00:00:00Z')] });
    const listing = await landListing(warehouse, { connectionId, stream: 'bills', records: [right] });
    expect(await findAbsent(warehouse, listing)).toMatchObject({ ahead: 1 });
    await fetched(listing, right);
    expect(await readMemo(connectionId)).toBe('corrected');
    expect(await settle(listing)).toEqual({ equal: true });
    expect(
      await rows(warehouse, 'select from sync.tombstones where connection_id = $1', [connectionId]),
    ).toEqual([]);
  });

  test('stays deleted when a fetch says that it is gone', async () => {
    const connectionId = await held(right);
    await landEvents(warehouse, { connectionId, events: [buildDeletionEvent('b', '2026-03-01T00:00:00Z')] });
    const listing = await landListing(warehouse, { connectionId, stream: 'bills', records: [right] });
    await findAbsent(warehouse, listing);
    await confirmAbsent(warehouse, listing, { recordId: 'b', goneBy: '2026-03-02T00:00:00Z', metAt: null });
    expect(await settle(listing)).toEqual({ equal: true });
    expect(await readMemo(connectionId)).toBeUndefined();
    expect(await readDiscrepancies(connectionId)).toEqual([{ kind: 'ahead', status: 'dismissed' }]);
  });
});

test('a tombstone covers every version that the service can have shown before the deletion was confirmed', async () => {
  const connectionId = await held(bill('a'), bill('b'));
  const listing = await landListing(warehouse, { connectionId, stream: 'bills', records: [bill('a')] });
  await findAbsent(warehouse, listing);
  const goneBy = endOfSecond(new Date('2026-05-01T12:00:00Z'));
  await confirmAbsent(warehouse, listing, { recordId: 'b', goneBy, metAt: null });
  expect(await settle(listing)).toEqual({ equal: true });
  const inFlight = bill('b', { last_synced_at: '"2026-05-01T12:00:00.5Z"' });
  const [late] = await land(warehouse, { connectionId, stream: 'bills', pages: [[inFlight]] });
  expect(late).toMatchObject({ inserted: 0, suppressed: 1 });
  const made = bill('b', { last_synced_at: '"2026-05-01T12:00:01Z"' });
  const [again] = await land(warehouse, { connectionId, stream: 'bills', pages: [[made]] });
  expect(again).toMatchObject({ inserted: 1 });
});

describe('a record that a webhook brought and that lists do not show yet', () => {
  const lookback = 600_000;
  const now = new Date('2026-05-01T12:00:00Z');

  test('is not deleted by a second listing that lags too', async () => {
    const connectionId = await held(
      bill('a', { last_synced_at: '"2026-05-01T11:00:00Z"' }),
      bill('b', { last_synced_at: '"2026-05-01T11:55:00Z"' }),
    );
    const listing = await openListing(warehouse, { connectionId, stream: 'bills' });
    await landRecords(warehouse, { pass: listing.pass, records: [], servedAt: now });
    expect(await findAbsent(warehouse, listing)).toMatchObject({ absent: 2, young: 1 });
    await listAgain(warehouse, listing);
    await landRecords(warehouse, { pass: listing.pass, records: [], servedAt: now });
    await confirmBySecondListing(warehouse, {
      ...listing,
      lookbackMilliseconds: lookback,
      unfetchable: false,
    });
    expect(
      await rows(
        warehouse,
        'select record_id, status from sync.discrepancies where connection_id = $1 order by record_id',
        [connectionId],
      ),
    ).toEqual([
      { record_id: 'a', status: 'confirmed' },
      { record_id: 'b', status: 'checking' },
    ]);
    expect(await settle(listing)).toEqual({ equal: false });
    expect(await readMemo(connectionId)).toBeNull();
  });
});

describe('a record that never landed and that lists do not show', () => {
  test('is kept when a fetch can decide', async () => {
    expect(await afterTwoListings(await unlanded(), { unfetchable: false })).toBe('checking');
  });

  test('counts as gone, without a fetch, after a reconcile older than the maximum lag missed it too', async () => {
    const connectionId = await unlanded();
    for (const [served, status] of [
      ['12:00', 'checking'],
      ['12:09', 'checking'],
      ['12:11', 'confirmed'],
    ] as const)
      expect(await afterTwoListings(connectionId, { unfetchable: true, served })).toBe(status);
  });

  test('starts a new wait when it is read again in between, whatever the database clock says', async () => {
    const connectionId = await unlanded();
    expect(await afterTwoListings(connectionId, { unfetchable: true, served: '12:00' })).toBe('checking');
    await land(warehouse, { connectionId, stream: 'bills', pages: [[unfit]] });
    expect(await afterTwoListings(connectionId, { unfetchable: true, served: '12:30' })).toBe('checking');
    expect(await afterTwoListings(connectionId, { unfetchable: true, served: '12:39' })).toBe('checking');
    expect(await afterTwoListings(connectionId, { unfetchable: true, served: '12:41' })).toBe('confirmed');
  });

  test('counts as gone after two reconciles when the service sends no Date header', async () => {
    const connectionId = await unlanded();
    expect(await afterTwoListings(connectionId, { unfetchable: true })).toBe('checking');
    expect(await afterTwoListings(connectionId, { unfetchable: true })).toBe('confirmed');
  });

  const unfit = bill('a', { total_amount: '"no amount"' });

  async function unlanded(): Promise<string> {
    const connectionId = await held(bill('b'));
    await land(warehouse, { connectionId, stream: 'bills', pages: [[unfit]] });
    return connectionId;
  }

  /** The outcome for the waiting record of a reconcile whose two listings show another record. `served`: the time of the service. */
  async function afterTwoListings(
    connectionId: string,
    { unfetchable, served }: { unfetchable: boolean; served?: string },
  ): Promise<unknown> {
    const servedAt = served === undefined ? undefined : new Date(`2026-05-01T${served}:00Z`);
    const listing = await landListing(warehouse, {
      connectionId,
      stream: 'bills',
      records: [bill('b')],
      servedAt,
    });
    expect(await findAbsent(warehouse, listing)).toMatchObject({ absent: 1, young: 1 });
    await listAgain(warehouse, listing);
    await landRecords(warehouse, { pass: listing.pass, records: [bill('b')], servedAt: servedAt ?? null });
    await confirmBySecondListing(warehouse, { ...listing, unfetchable });
    const [last] = await rows(
      warehouse,
      `select status from sync.discrepancies where connection_id = $1 and closed_at is null`,
      [connectionId],
    );
    await settle(listing);
    return last?.status;
  }
});

test('an absent record written here longer ago than the maximum lag is deleted when the service sends no Date header', async () => {
  const connectionId = await held(bill('a'), bill('b', { last_synced_at: '"2020-05-01T11:55:00Z"' }));
  await writtenLongAgo(connectionId, 'a');
  const shown = bill('c', { last_synced_at: '"2026-05-01T12:00:00Z"' });
  const listing = await landListing(warehouse, { connectionId, stream: 'bills', records: [shown] });
  expect(await findAbsent(warehouse, listing)).toMatchObject({ absent: 2, young: 1 });
  await listAgain(warehouse, listing);
  await landRecords(warehouse, { pass: listing.pass, records: [shown], servedAt: null });
  await confirmBySecondListing(warehouse, { ...listing, unfetchable: false });
  expect(
    await rows(
      warehouse,
      `select record_id from sync.discrepancies where connection_id = $1 and status = 'confirmed'`,
      [connectionId],
    ),
  ).toEqual([{ record_id: 'a' }]);
});

test('a record edited between the two listings of a reconcile is compared in its second version', async () => {
  const connectionId = await held(bill('a'), bill('b'));
  await writtenLongAgo(connectionId, 'b');
  const listing = await landListing(warehouse, { connectionId, stream: 'bills', records: [bill('a')] });
  await findAbsent(warehouse, listing);
  await listAgain(warehouse, listing);
  const edited = bill('a', { total_amount: '7.25', last_synced_at: '"2026-05-01T12:00:00Z"' });
  const made = bill('c', { last_synced_at: '"2026-05-01T12:00:00Z"' });
  await landRecords(warehouse, { pass: listing.pass, records: [edited, made] });
  await confirmBySecondListing(warehouse, {
    ...listing,
    lookbackMilliseconds: 0,
    unfetchable: false,
  });
  expect(await settle(listing)).toEqual({ equal: true });
});

async function held(...bills: string[]): Promise<string> {
  const connectionId = await addTestConnection(warehouse);
  await land(warehouse, { connectionId, stream: 'bills', pages: [bills] });
  return connectionId;
}

async function writtenLongAgo(connectionId: string, id: string): Promise<void> {
  await warehouse.pool.query(
    `update finance.bills set _changed_at = _changed_at - interval '1 hour', _first_seen_at = _first_seen_at - interval '1 hour'
     where connection_id = $1 and id = $2`,
    [connectionId, id],
  );
}

async function heldSubscription(record: string): Promise<string> {
  const connectionId = await addTestConnection(warehouse);
  await land(warehouse, { connectionId, stream: 'subscriptions', pages: [[record, other2]] });
  return connectionId;
}

/** Opens a listing of two pages. After the first, a sync brings a newer version of the record that it showed. */
async function openAndOvertake(connectionId: string): Promise<Listing> {
  const listing = await openListing(warehouse, { connectionId, stream: 'bills' });
  await land(warehouse, { connectionId, stream: 'bills', pages: [[wrong]] });
  await landRecords(warehouse, { pass: listing.pass, records: [right] });
  return listing;
}

/** Lands the service's answer to the fetch of the record. */
async function fetched(listing: Listing, text: string): Promise<void> {
  await landAhead(warehouse, {
    ...listing,
    id: 'b',
    kind: 'ahead',
    token: listing.pass.token,
    record: sourceRecord(text),
  });
}

async function reconcileSubscriptions(
  connectionId: string,
  records: readonly string[],
  { servedAt, hoursAgo }: { servedAt?: Date; hoursAgo?: number } = {},
): Promise<{ equal: boolean }> {
  const listing = await landListing(warehouse, { connectionId, stream: 'subscriptions', records, servedAt });
  await findAbsent(warehouse, listing);
  return settle(listing, hoursAgo);
}

/** Ends the run, some hours ago by the database's clock. */
async function settle(listing: Listing, hoursAgo = 1): Promise<{ equal: boolean }> {
  const absent = await deleteAbsent(warehouse, { ...listing, limit: 1 });
  const { equal } = await finishResource(warehouse, { ...listing, ...absent });
  await warehouse.pool.query(
    `update sync.runs set status = 'succeeded', finished_at = clock_timestamp() - $2 * interval '1 hour' where run_id = $1`,
    [listing.runId, hoursAgo],
  );
  return { equal };
}

async function readMemo(connectionId: string): Promise<unknown> {
  const found = await rows(
    warehouse,
    `select memo from finance.bills where connection_id = $1 and id = 'b'`,
    [connectionId],
  );
  return found[0]?.memo;
}

async function readStatus(connectionId: string): Promise<unknown> {
  const found = await rows(
    warehouse,
    `select status from finance.subscriptions where connection_id = $1 and id = 's'`,
    [connectionId],
  );
  return found[0]?.status;
}

function readDiscrepancies(connectionId: string): Promise<Row[]> {
  return rows(warehouse, 'select kind, status from sync.discrepancies where connection_id = $1 order by id', [
    connectionId,
  ]);
}
