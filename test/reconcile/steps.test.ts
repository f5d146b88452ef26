import { describe, expect, test } from 'vitest';
import { sourceRecord } from '../../resources/source-record.ts';
import {
  confirmAbsent,
  listAgain,
  confirmBySecondListing,
} from '../../warehouse/reconcile/confirm-absent.ts';
import { beginAgainIfStoodStill } from '../../warehouse/reconcile/begin-again.ts';
import { deleteAbsent, deleteApproved } from '../../warehouse/reconcile/delete-absent.ts';
import { buildQuestion, type DeletionQuestion } from '../../warehouse/reconcile/deletion-question.ts';
import { findAbsent } from '../../warehouse/reconcile/find-absent.ts';
import { finishResource, readFinished } from '../../warehouse/reconcile/finish-resource.ts';
import { landAhead } from '../../warehouse/reconcile/land-ahead.ts';
import { takeListing } from '../../warehouse/reconcile/listing-in-hand.ts';
import { readWaitingDeletions } from '../../warehouse/reconcile/read-waiting-deletions.ts';
import { CommitsLost } from '../../warehouse/errors.ts';
import { bill, subscription } from '../support/finance-records.ts';
import { buildDeletionEvent, landEvents } from '../support/land-events.ts';
import { landListing, openListing, type Listing } from '../support/land-listing.ts';
import { land, landRecords } from '../support/land.ts';
import { row, rows, type Row } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse } = await createTestDatabase();

describe('a reconcile step that runs twice', () => {
  test('leaves the same proof, although the listing is gone by then', async () => {
    const connectionId = await held('a', 'b');
    const listing = await listed(connectionId, 'a', 'b');
    await findAbsent(warehouse, listing);
    await settle(listing);
    const before = await readRunStream(listing);
    expect(before).toMatchObject({
      status: 'succeeded',
      totals: { equal: true, source: { USD: { records: '2', total_amount: '220.50' } } },
    });
    // After a worker was killed before it could report, the step runs again.
    await openListing(warehouse, { connectionId, stream: 'bills', runId: listing.runId });
    expect(await settle(listing)).toMatchObject({ waiting: 0, equal: true });
    expect(await readRunStream(listing)).toEqual(before);
    expect(await heldIds(connectionId)).toEqual(['a', 'b']);
  });

  test('proves nothing when earlier deletions are lost with their database', async () => {
    const connectionId = await held('a', 'b');
    const listing = await listed(connectionId, 'b');
    await findAndConfirm(listing, 'a');
    const deleted = { waiting: 0, held: 2, before: 0 };
    await expect(finishResource(warehouse, { ...listing, ...deleted })).rejects.toThrow(CommitsLost);
    expect(await readRunStream(listing)).toMatchObject({ status: 'running', totals: null });
    expect(await settle(listing)).toMatchObject({ waiting: 0, equal: true });
    expect(await heldIds(connectionId)).toEqual(['b']);
  });

  test('does not find a record absent again after a fetch, unless the listing starts over', async () => {
    const connectionId = await held('a', 'b', 'c', 'lost', 'unasked');
    await warehouse.pool.query(`delete from finance.bills where connection_id = $1 and id = 'lost'`, [
      connectionId,
    ]);
    const listing = await listed(connectionId, 'a');
    expect(await findAbsent(warehouse, listing)).toMatchObject({ absent: 4 });
    const changed = bill('c', { memo: '"changed"', last_synced_at: '"2026-01-01T00:00:00Z"' });
    for (const [id, fetched] of [
      ['b', record('b')],
      ['c', changed],
      ['lost', record('lost')],
    ] as const) {
      const token = listing.pass.token;
      await landAhead(warehouse, { ...listing, id, kind: 'extra', token, record: sourceRecord(fetched) });
    }
    // An execution that continues the run compares again.
    expect(await findAbsent(warehouse, listing)).toMatchObject({ absent: 1 });
    expect(await readDiscrepancies(connectionId)).toHaveLength(4);
    await warehouse.pool.query(
      `update sync.passes set stood_still_seconds = 90000 where connection_id = $1 and kind = 'reconcile'`,
      [connectionId],
    );
    expect(await beginAgainIfStoodStill(warehouse, listing)).toBe('begun again');
    await landRecords(warehouse, { pass: listing.pass, records: [record('a')] });
    expect(await findAbsent(warehouse, listing)).toMatchObject({ absent: 4 });
  });

  test('keeps the approval request of a stopped reconcile, which counts only landed records', async () => {
    const connectionId = await held('a', 'b');
    const spoiled = bill('spoiled', { total_amount: '"much"' });
    await land(warehouse, { connectionId, stream: 'bills', pages: [[spoiled]] });
    const listing = await listed(connectionId);
    await findAndConfirm(listing, 'a', 'b', 'spoiled');
    expect(await settle(listing)).toMatchObject({ waiting: 2 });
    const before = await readRunStream(listing);
    expect(before).toMatchObject({
      status: 'partial',
      failure_type: 'ApprovalNeeded',
      failure: `2 of 2 bills are gone at the source, and none was deleted. If that is right, approve it: "daybook reconcile ${connectionId} --approve-deletes".`,
    });
    await openListing(warehouse, { connectionId, stream: 'bills', runId: listing.runId });
    expect(await settle(listing)).toMatchObject({ waiting: 2 });
    expect(await readRunStream(listing)).toEqual(before);
    expect(await heldIds(connectionId)).toEqual(['a', 'b']);
  });

  test('deletes a record once', async () => {
    const connectionId = await held('a', 'b', 'c');
    const listing = await listed(connectionId, 'a', 'b');
    await findAndConfirm(listing, 'c');
    expect(await settle(listing)).toMatchObject({ deleted: 1, equal: true });
    expect(await settle(listing)).toMatchObject({ deleted: 0, equal: true });
    expect(await readRunStream(listing)).toMatchObject({ deleted: 1 });
    expect(await readOperations(connectionId, 'c')).toEqual(['upsert', 'delete']);
  });
});

describe('a complete listing that stalled overnight', () => {
  test('starts over once, however often the step runs, and its absences are found anew', async () => {
    const connectionId = await held('a', 'b', 'c');
    const listing = await listed(connectionId, 'a', 'b', 'r');
    await findAndConfirm(listing, 'c');
    expect(await beginAgainIfStoodStill(warehouse, listing)).toBe('of one time');
    // By the database's clock, because the service need not tell its time.
    await warehouse.pool.query(
      `update sync.passes set answered_at = answered_at - interval '1 day' where connection_id = $1`,
      [connectionId],
    );
    expect(await beginAgainIfStoodStill(warehouse, listing)).toBe('begun again');
    expect(await beginAgainIfStoodStill(warehouse, listing)).toBe('of one time');
    expect(await findAbsent(warehouse, listing)).toMatchObject({ absent: 0 });
    await landRecords(warehouse, { pass: listing.pass, records: [record('b'), record('c')] });
    expect(await findAbsent(warehouse, listing)).toMatchObject({ absent: 2 });
    await findAndConfirm(listing, 'a', 'r');
    expect(await settle(listing)).toMatchObject({ deleted: 2, equal: true });
    expect(await heldIds(connectionId)).toEqual(['b', 'c']);
  });
});

describe('an absent record', () => {
  test('is searched for only when every page of the listing was read', async () => {
    const connectionId = await held('a', 'b');
    const listing = await openListing(warehouse, { connectionId, stream: 'bills' });
    await landRecords(warehouse, { pass: listing.pass, records: [record('a')], nextCursor: 'page-2' });
    expect(await findAbsent(warehouse, listing)).toMatchObject({ absent: 0 });
    expect(await readDiscrepancies(connectionId)).toEqual([]);
  });

  test('is not a record that came after the listing began, or was changed since', async () => {
    const connectionId = await held('a', 'changed');
    const listing = await openListing(warehouse, { connectionId, stream: 'bills' });
    await land(warehouse, {
      connectionId,
      stream: 'bills',
      pages: [[record('new'), bill('changed', { memo: '"2"', last_synced_at: '"2024-02-01T00:00:00Z"' })]],
    });
    await landRecords(warehouse, { pass: listing.pass, records: [record('a')] });
    expect(await findAbsent(warehouse, listing)).toMatchObject({ absent: 0 });
    expect(await settle(listing)).toMatchObject({ deleted: 0, equal: true });
    expect(await heldIds(connectionId)).toEqual(['a', 'changed', 'new']);
  });

  test('is kept, and left in doubt, when a sync brings a newer version after it was confirmed', async () => {
    const connectionId = await held('a', 'b', 'c');
    const listing = await listed(connectionId, 'a', 'b');
    await findAndConfirm(listing, 'c');
    await land(warehouse, {
      connectionId,
      stream: 'bills',
      pages: [[bill('c', { last_synced_at: '"2024-02-01T00:00:00.000001Z"' })]],
    });
    expect(await settle(listing)).toMatchObject({ deleted: 0, equal: false });
    expect(await heldIds(connectionId)).toEqual(['a', 'b', 'c']);
    expect(await readDiscrepancies(connectionId)).toMatchObject([{ record_id: 'c', status: 'checking' }]);
    expect(
      await rows(warehouse, 'select from sync.tombstones where connection_id = $1', [connectionId]),
    ).toEqual([]);
  });

  test('is not confirmed by an incomplete second listing', async () => {
    const connectionId = await addTestConnection(warehouse);
    const stream = 'subscriptions';
    const servedAt = new Date('2030-01-01T00:00:00Z');
    const all = ['a', 'b', 'c'].map((id) => subscription(id));
    await land(warehouse, { connectionId, stream, pages: [all] });
    const listing = await landListing(warehouse, {
      connectionId,
      stream,
      records: all.slice(0, 2),
      servedAt,
    });
    expect(await findAbsent(warehouse, listing)).toMatchObject({ absent: 1 });
    await listAgain(warehouse, listing);
    await landRecords(warehouse, {
      pass: listing.pass,
      records: all.slice(0, 1),
      servedAt,
      nextCursor: 'page-2',
    });
    await confirmBySecondListing(warehouse, { ...listing, unfetchable: false });
    expect(await readDiscrepancies(connectionId)).toMatchObject([{ record_id: 'c', status: 'checking' }]);
    // A second request continues with the second listing.
    await listAgain(warehouse, listing);
    await landRecords(warehouse, { pass: listing.pass, records: all.slice(1, 2), servedAt });
    await confirmBySecondListing(warehouse, { ...listing, unfetchable: false });
    expect(await readDiscrepancies(connectionId)).toMatchObject([{ record_id: 'c', status: 'confirmed' }]);
  });
});

describe('an approval', () => {
  test('covers what the stopped reconcile listed', async () => {
    const connectionId = await held('a', 'b');
    await stopped(connectionId, 'a', 'b');
    expect(await approve(connectionId, await shown(connectionId))).toBe(2);
    expect(await heldIds(connectionId)).toEqual([]);
  });

  test('applies to the rest of the same finding after a partial deletion', async () => {
    const connectionId = await held('a', 'b');
    await stopped(connectionId, 'a', 'b');
    const question = await shown(connectionId);
    await warehouse.pool.query(
      `update sync.discrepancies set status = 'repaired', closed_at = now() where connection_id = $1 and record_id = 'a'`,
      [connectionId],
    );
    expect(await approve(connectionId, question)).toBe(1);
    expect(await approve(connectionId, question)).toBe(0);
    expect(await heldIds(connectionId)).toEqual(['a']);
  });

  test('names what was shown, and is refused when another reconcile has found something else', async () => {
    const connectionId = await held('a', 'b', 'c');
    await stopped(connectionId, 'a', 'b', 'c');
    const before = await shown(connectionId);
    await land(warehouse, { connectionId, stream: 'bills', pages: [[record('d')]] });
    await stopped(connectionId, 'a', 'b', 'c', 'd');
    const after = await shown(connectionId);
    await expect(approve(connectionId, before)).rejects.toThrow(
      `What is waiting now is not what was approved: 4 bills wait, found gone by the reconcile ${after.bills?.run} (approved were 3, found by ${before.bills?.run}). Nothing was deleted.`,
    );
    // An approval covers neither the same number of another finding, nor more of the same one.
    const { run = '' } = after.bills ?? {};
    for (const bills of [{ records: 4, run: before.bills?.run ?? '' }, { records: 3, run }, { records: 4 }])
      await expect(approve(connectionId, { bills })).rejects.toMatchObject({ name: 'ApprovalOutdated' });
    await expect(approve(connectionId, {})).rejects.toThrow('the approval did not name any');
    expect(await heldIds(connectionId)).toEqual(['a', 'b', 'c', 'd']);
    expect(await approve(connectionId, after)).toBe(4);
  });

  test('for one resource does not affect what waits for another', async () => {
    const connectionId = await held('a', 'b');
    await stopped(connectionId, 'a', 'b');
    expect(await approve(connectionId, {}, 'customers')).toBe(0);
    expect(await heldIds(connectionId)).toEqual(['a', 'b']);
  });

  test('does not cover records found by a later reconcile that ended before it could ask', async () => {
    const connectionId = await held('a', 'b');
    await stopped(connectionId, 'a', 'b');
    const question = await shown(connectionId);
    const ended = await listed(connectionId);
    await findAndConfirm(ended, 'a', 'b');
    expect(await shown(connectionId)).toEqual({});
    expect(await approve(connectionId, question)).toBe(0);
    expect(await heldIds(connectionId)).toEqual(['a', 'b']);
  });

  test('for nothing deletes nothing', async () => {
    const connectionId = await held('a', 'b');
    expect(await approve(connectionId, {})).toBe(0);
    expect(await heldIds(connectionId)).toEqual(['a', 'b']);
  });
});

describe('an abandoned run that still works', () => {
  test('neither proves nor deletes anything, and leaves the listing of the newer run alone', async () => {
    const connectionId = await held('a', 'b', 'c');
    const old = await listed(connectionId, 'a');
    await findAndConfirm(old, 'b', 'c');
    const newer = await listed(connectionId, 'a', 'b');
    await findAndConfirm(newer, 'c');
    expect(await settle(old)).toMatchObject({ deleted: 0 });
    expect(await readRunStream(old)).toMatchObject({ totals: null });
    expect(await settle(newer)).toMatchObject({ deleted: 1, equal: true });
    expect(await readRunStream(newer)).toMatchObject({
      status: 'succeeded',
      totals: { source: { USD: { records: '2' } } },
    });
    expect(await heldIds(connectionId)).toEqual(['a', 'b']);
  });
});

describe('an event that does not say what was deleted', () => {
  const event = buildDeletionEvent('?', '2024-02-01T00:00:00Z', { data: '{}' });

  test('is settled by a reconcile that began after it, and is not reopened by the lookback', async () => {
    const connectionId = await held('a');
    await landEvents(warehouse, { connectionId, events: [event] });
    expect(await openEvents(connectionId)).toEqual({ wanted: true, entries: 1 });
    const listing = await listed(connectionId, 'a');
    await findAbsent(warehouse, listing);
    await settle(listing);
    expect(await openEvents(connectionId)).toEqual({ wanted: false, entries: 0 });
    expect(await landEvents(warehouse, { connectionId, events: [event] })).toMatchObject({ quarantined: 0 });
    expect(await openEvents(connectionId)).toEqual({ wanted: false, entries: 0 });
  });

  test('waits for the next reconcile when it came after the listing had begun', async () => {
    const connectionId = await held('a', 'b');
    const listing = await listed(connectionId, 'a', 'b');
    await landEvents(warehouse, { connectionId, events: [event] });
    await findAbsent(warehouse, listing);
    await settle(listing);
    expect(await openEvents(connectionId)).toEqual({ wanted: true, entries: 1 });
  });

  test('is settled by a complete listing even if it awaits approval, and an unequal listing is not a proof', async () => {
    const connectionId = await held('a', 'b');
    await landEvents(warehouse, { connectionId, events: [event] });
    await stopped(connectionId, 'a', 'b');
    expect(await openEvents(connectionId)).toEqual({ wanted: false, entries: 0 });
    const listing = await listed(connectionId, 'a', 'b');
    await warehouse.pool.query('update finance.bills set total_amount = 1 where connection_id = $1', [
      connectionId,
    ]);
    expect(await settle(listing)).toMatchObject({ equal: false });
    expect(await readRunStream(listing)).toMatchObject({ status: 'partial', failure_type: 'NotEqual' });
    expect(
      await row(
        warehouse,
        `select last_reconcile_at from sync.streams where connection_id = $1 and stream = 'bills'`,
        [connectionId],
      ),
    ).toEqual({ last_reconcile_at: null });
  });
});

test('a finished stream keeps its failure message when it is opened again', async () => {
  const connectionId = await held('a', 'b');
  const listing = await listed(connectionId);
  await findAndConfirm(listing, 'a', 'b');
  await settle(listing);
  const { failure } = await readRunStream(listing);
  await openListing(warehouse, { connectionId, stream: 'bills', runId: listing.runId });
  expect(await readRunStream(listing)).toMatchObject({ failure });
});

function record(id: string): string {
  return bill(id);
}

/** A connection that holds these bills. */
async function held(...ids: string[]): Promise<string> {
  const connectionId = await addTestConnection(warehouse);
  await land(warehouse, { connectionId, stream: 'bills', pages: [ids.map(record)] });
  return connectionId;
}

/** A complete listing that shows these bills. */
function listed(connectionId: string, ...ids: string[]): Promise<Listing> {
  return landListing(warehouse, { connectionId, stream: 'bills', records: ids.map(record) });
}

async function findAndConfirm(listing: Listing, ...ids: string[]): Promise<void> {
  expect(await findAbsent(warehouse, listing)).toMatchObject({ absent: ids.length });
  for (const recordId of ids)
    await confirmAbsent(warehouse, listing, { recordId, goneBy: null, metAt: null });
}

/** A reconcile that found all these bills gone, and asked for approval. */
async function stopped(connectionId: string, ...ids: string[]): Promise<void> {
  const listing = await listed(connectionId);
  await findAndConfirm(listing, ...ids);
  expect(await settle(listing)).toMatchObject({ waiting: ids.length });
}

async function shown(connectionId: string): Promise<DeletionQuestion> {
  return buildQuestion(await readWaitingDeletions(warehouse, { connectionId }));
}

/** Deletes in a separate run that a person started with an approval. */
async function approve(connectionId: string, approved: DeletionQuestion, stream = 'bills'): Promise<number> {
  const { resource, runId } = await openListing(warehouse, { connectionId, stream });
  return deleteApproved(warehouse, { connectionId, resources: [resource], runId, approved });
}

async function settle(listing: Listing): Promise<{ deleted: number; waiting: number; equal: boolean }> {
  if (!(await takeListing(warehouse, listing)))
    return { deleted: 0, ...(await readFinished(warehouse, listing)) };
  const { deleted, ...absent } = await deleteAbsent(warehouse, { ...listing, limit: 0.2 });
  const { equal } = await finishResource(warehouse, { ...listing, ...absent });
  return { deleted, waiting: absent.waiting, equal };
}

function readRunStream({ runId }: Listing): Promise<Row> {
  return row(
    warehouse,
    'select status, totals, deleted, failure_type, failure from sync.run_streams where run_id = $1',
    [runId],
  );
}

async function heldIds(connectionId: string): Promise<unknown[]> {
  const ids = await rows(warehouse, 'select id from finance.bills where connection_id = $1 order by id', [
    connectionId,
  ]);
  return ids.map(({ id }) => id);
}

function readDiscrepancies(connectionId: string): Promise<Row[]> {
  return rows(
    warehouse,
    'select record_id, status from sync.discrepancies where connection_id = $1 order by id',
    [connectionId],
  );
}

async function readOperations(connectionId: string, id: string): Promise<unknown[]> {
  const versions = await rows(
    warehouse,
    'select op from history.record_versions where connection_id = $1 and record_id = $2 order by recorded_at',
    [connectionId, id],
  );
  return versions.map(({ op }) => op);
}

function openEvents(connectionId: string): Promise<Row> {
  return row(
    warehouse,
    `select
       (select reconcile_wanted_at is not null from sync.streams where connection_id = $1 and stream = 'bills') as wanted,
       (select count(*) from sync.quarantine where connection_id = $1 and status = 'open') as entries`,
    [connectionId],
  );
}
