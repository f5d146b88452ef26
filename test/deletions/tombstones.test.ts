import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { inTransaction } from '../../warehouse/transactions/in-transaction.ts';
import { landRecords } from '../../warehouse/landing/land-records.ts';
import { lockResource } from '../../warehouse/passes/lock-pass.ts';
import { bills } from '../../resources/bills.ts';
import { waitingSessions } from '../support/blocked-session.ts';
import { allocation, bill, billLine, expense, item, list } from '../support/finance-records.ts';
import { buildDeletionEvent, landEvents } from '../support/land-events.ts';
import { land, parsePage } from '../support/land.ts';
import { row, rows, type Row } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse, url } = await createTestDatabase();

describe('an announced deletion', () => {
  test('removes the record and its lists from finance, and keeps its last known content in deleted_records', async () => {
    const connectionId = await addTestConnection(warehouse);
    const full = bill('b', {
      total_amount: '123456789012345678.10',
      line_items: list(billLine(), billLine()),
      linked_payments: list(allocation('p')),
      linked_credit_memos: list(allocation('c')),
      linked_purchase_orders: '[{"id":"po"}]',
    });
    await landBills(connectionId, full, bill('other'));
    const facts = await landEvents(warehouse, {
      connectionId,
      events: [
        buildDeletionEvent('b', '2024-02-01T00:00:00.000Z', {
          data: '{"id":"b","deleted_at":"2024-01-31T12:00:00Z"}',
        }),
      ],
    });
    expect(facts).toMatchObject({ read: 1, deleted: 1, suppressed: 0, unchanged: 0, quarantined: 0 });
    expect(await billsOf(connectionId)).toEqual(['other']);
    for (const { table, parentKey } of bills.children) {
      expect(
        await rows(
          warehouse,
          `select from finance.${table} where connection_id = $1 and ${parentKey} = 'b'`,
          [connectionId],
        ),
      ).toEqual([]);
    }
    expect(
      await row(
        warehouse,
        `select resource, id, deleted_at::text, source, payload ->> 'total_amount' as total
         from finance.deleted_records where connection_id = $1`,
        [connectionId],
      ),
    ).toEqual({
      resource: 'bills',
      id: 'b',
      source: 'event',
      total: '123456789012345678.10',
      deleted_at: '2024-01-31 12:00:00+00',
    });
  });

  test('keeps its first source when another event announces it later', async () => {
    const connectionId = await addTestConnection(warehouse);
    await landBills(connectionId, bill('b'));
    await landEvents(warehouse, { connectionId, events: [buildDeletionEvent('b', later)] });
    await warehouse.pool.query(`update sync.tombstones set source = 'webhook' where connection_id = $1`, [
      connectionId,
    ]);
    await landEvents(warehouse, { connectionId, events: [buildDeletionEvent('b', '2027-01-01T00:00:00Z')] });
    expect(
      await row(warehouse, `select source, version::text from sync.tombstones where connection_id = $1`, [
        connectionId,
      ]),
    ).toEqual({ source: 'webhook', version: '2027-01-01 00:00:00+00' });
  });

  test('is a row of history, and as_of before it shows the record', async () => {
    const connectionId = await addTestConnection(warehouse);
    await landBills(connectionId, bill('b'));
    const { now: before } = await row(warehouse, 'select clock_timestamp()::text as now');
    await landEvents(warehouse, { connectionId, events: [buildDeletionEvent('b', later)] });
    expect(await historyOf(connectionId)).toEqual(['upsert', 'delete']);
    expect(
      await rows(
        warehouse,
        `select payload ->> 'document_number' as number from history.as_of('bills', $2) where connection_id = $1`,
        [connectionId, before],
      ),
    ).toEqual([{ number: 'INV-1' }]);
    expect(
      await rows(
        warehouse,
        `select from history.as_of('bills', clock_timestamp()) where connection_id = $1`,
        [connectionId],
      ),
    ).toEqual([]);
  });

  test('writes nothing when it is read again', async () => {
    const connectionId = await addTestConnection(warehouse);
    await landBills(connectionId, bill('b'));
    const events = [buildDeletionEvent('b', later), buildDeletionEvent('never-seen', later)];
    await landEvents(warehouse, { connectionId, events });
    const before = await writesOf(connectionId);
    const facts = await landEvents(warehouse, { connectionId, events });
    expect(facts).toMatchObject({ read: 2, deleted: 0, suppressed: 0, unchanged: 2, quarantined: 0 });
    expect(await writesOf(connectionId)).toEqual(before);
  });

  test('read before its record keeps the record out', async () => {
    const connectionId = await addTestConnection(warehouse);
    await landEvents(warehouse, { connectionId, events: [buildDeletionEvent('b', later)] });
    expect(await tombstoneOf(connectionId)).toMatchObject({
      version: '2024-02-01 00:00:00+00',
      payload: null,
    });
    const [facts] = await landBills(connectionId, bill('b'));
    expect(facts).toMatchObject({ inserted: 0, suppressed: 1 });
    expect(await billsOf(connectionId)).toEqual([]);
    expect(await historyOf(connectionId)).toEqual([]);
  });

  test('is not reversed by a late page', async () => {
    const connectionId = await addTestConnection(warehouse);
    await landBills(connectionId, bill('b'));
    await landEvents(warehouse, { connectionId, events: [buildDeletionEvent('b', later)] });
    await landBills(
      connectionId,
      bill('b', { memo: '"late"', last_synced_at: `"2024-01-31T23:59:59.999999Z"` }),
    );
    expect(await billsOf(connectionId)).toEqual([]);
    expect(await historyOf(connectionId)).toEqual(['upsert', 'delete']);
  });

  test('does not touch a record held in a newer version', async () => {
    const connectionId = await addTestConnection(warehouse);
    await landBills(connectionId, bill('b', { last_synced_at: '"2024-02-01T00:00:00.000001Z"' }));
    const facts = await landEvents(warehouse, { connectionId, events: [buildDeletionEvent('b', later)] });
    expect(facts).toMatchObject({ deleted: 0, suppressed: 1 });
    expect(await billsOf(connectionId)).toEqual(['b']);
    expect(await tombstonesOf(connectionId)).toEqual([]);
  });

  test('wins against a record of the same microsecond', async () => {
    const connectionId = await addTestConnection(warehouse);
    const at = '2024-02-01T00:00:00.000001Z';
    await landBills(connectionId, bill('b', { last_synced_at: `"${at}"` }));
    const facts = await landEvents(warehouse, { connectionId, events: [buildDeletionEvent('b', at)] });
    expect(facts).toMatchObject({ deleted: 1 });
    expect(await billsOf(connectionId)).toEqual([]);
  });

  test('counts with its newest time, to the microsecond, when it comes several times in one page', async () => {
    const connectionId = await addTestConnection(warehouse);
    const events = ['2024-02-01T00:00:00.000001Z', '2024-02-01T00:00:00.000002Z', '2024-02-01T00:00:00Z'].map(
      (at) => buildDeletionEvent('b', at),
    );
    await landEvents(warehouse, { connectionId, events });
    expect(await tombstoneOf(connectionId)).toMatchObject({ version: '2024-02-01 00:00:00.000002+00' });
  });

  test('never moves a tombstone back, and moves it forward when newer', async () => {
    const connectionId = await addTestConnection(warehouse);
    await landBills(connectionId, bill('b'));
    for (const at of [later, '2024-01-31T00:00:00Z', '2024-02-03T00:00:00Z'])
      await landEvents(warehouse, { connectionId, events: [buildDeletionEvent('b', at)] });
    const { payload, version } = await tombstoneOf(connectionId);
    expect(version).toBe('2024-02-03 00:00:00+00');
    expect(payload).toMatchObject({ id: 'b' });
    expect(await historyOf(connectionId)).toEqual(['upsert', 'delete']);
  });

  test('closes the quarantine entry and the field issues of its record, and of no other', async () => {
    const connectionId = await addTestConnection(warehouse);
    await landBills(
      connectionId,
      bill('b', { currency_rate: '"1,5"' }),
      bill('other', { currency_rate: '"1,5"' }),
    );
    await landBills(connectionId, bill('b', { memo: '1' }), bill('other', { memo: '1' }));
    await landEvents(warehouse, { connectionId, events: [buildDeletionEvent('b', later)] });
    expect(
      await rows(
        warehouse,
        'select record_id, status, closed_why from sync.quarantine where connection_id = $1 order by record_id',
        [connectionId],
      ),
    ).toEqual([
      { record_id: 'b', status: 'discarded', closed_why: 'the record was deleted at the source' },
      { record_id: 'other', status: 'open', closed_why: null },
    ]);
    expect(
      await rows(warehouse, 'select record_id from sync.field_issues where connection_id = $1', [
        connectionId,
      ]),
    ).toEqual([{ record_id: 'other' }]);
  });

  test('leaves the quarantine entry of a newer version open', async () => {
    const connectionId = await addTestConnection(warehouse);
    await landBills(connectionId, bill('b'));
    await landBills(connectionId, bill('b', { memo: '1', last_synced_at: '"2024-05-01T00:00:00.000Z"' }));
    await landEvents(warehouse, { connectionId, events: [buildDeletionEvent('b', later)] });
    await landBills(connectionId, bill('b', { memo: '1', last_synced_at: '"2024-05-01T00:00:00.000Z"' }));
    expect(
      await rows(warehouse, 'select record_id, status from sync.quarantine where connection_id = $1', [
        connectionId,
      ]),
    ).toEqual([{ record_id: 'b', status: 'open' }]);
  });

  test('applies to one resource and one connection: others with the same ID stay', async () => {
    const [connectionId, another] = [await addTestConnection(warehouse), await addTestConnection(warehouse)];
    for (const one of [connectionId, another]) {
      await landBills(one, bill('x'));
      await land(warehouse, { connectionId: one, stream: 'expenses', pages: [[expense('x')]] });
      await land(warehouse, { connectionId: one, stream: 'items', pages: [[item('x')]] });
    }
    await landEvents(warehouse, {
      connectionId,
      events: [buildDeletionEvent('x', later, { resource: '"EXPENSE"' })],
    });
    await landEvents(warehouse, {
      connectionId,
      events: [buildDeletionEvent('x', later, { resource: '"ITEMS"' })],
    });
    expect(await billsOf(connectionId)).toEqual(['x']);
    expect(await billsOf(another)).toEqual(['x']);
    for (const table of ['expenses', 'expense_lines', 'items', 'item_subsidiaries']) {
      expect(await rows(warehouse, `select connection_id from finance.${table}`)).toEqual([
        { connection_id: another },
      ]);
    }
  });

  test('comes after a landing that it waited for in history', async () => {
    const connectionId = await addTestConnection(warehouse);
    const runId = randomUUID();
    await land(warehouse, { connectionId, runId, stream: 'bills', pages: [[bill('b')]] });
    const changed = await parsePage('bills', [bill('b', { memo: '"changed"' })]);
    const deleted = await inTransaction(warehouse.pool, async ({ client }) => {
      await lockResource(client, { connectionId, resource: 'bills', runId });
      const landing = landEvents(warehouse, { connectionId, events: [buildDeletionEvent('b', later)] });
      await waitingSessions(url);
      const { landedAt } = await lockResource(client, { connectionId, resource: 'bills', runId });
      await landRecords(client, {
        connectionId,
        resource: bills,
        runId,
        landedAt,
        records: changed.records,
        compare: 'hashes',
      });
      return { landing };
    });
    expect(await deleted.landing).toMatchObject({ deleted: 1 });
    expect(await historyOf(connectionId)).toEqual(['upsert', 'upsert', 'delete']);
    expect(await tombstoneOf(connectionId)).toMatchObject({ payload: { memo: 'changed' } });
  });
});

describe('a re-created record', () => {
  test('lives again in a newer version, and leaves deleted_records', async () => {
    const connectionId = await addTestConnection(warehouse);
    await landBills(connectionId, bill('b'));
    await landEvents(warehouse, { connectionId, events: [buildDeletionEvent('b', later)] });
    const [facts] = await landBills(
      connectionId,
      bill('b', { last_synced_at: '"2024-02-01T00:00:00.000001Z"' }),
    );
    expect(facts).toMatchObject({ inserted: 1 });
    expect(await tombstonesOf(connectionId)).toEqual([]);
    expect(await historyOf(connectionId)).toEqual(['upsert', 'delete', 'upsert']);
    expect(
      await rows(warehouse, `select from finance.bill_lines where connection_id = $1`, [connectionId]),
    ).toHaveLength(1);
    // The lookback reads its old deletion again.
    expect(
      await landEvents(warehouse, { connectionId, events: [buildDeletionEvent('b', later)] }),
    ).toMatchObject({
      deleted: 0,
      suppressed: 1,
    });
    expect(await billsOf(connectionId)).toEqual(['b']);
  });

  test.each([
    ['older than its deletion', '2024-01-31T23:59:59.999999Z'],
    ['of the very microsecond of its deletion', '2024-02-01T00:00:00.000000Z'],
  ])('stays deleted in a version %s', async (_, version) => {
    const connectionId = await addTestConnection(warehouse);
    await landBills(connectionId, bill('b'));
    await landEvents(warehouse, { connectionId, events: [buildDeletionEvent('b', later)] });
    await landBills(connectionId, bill('b', { memo: '"again"', last_synced_at: `"${version}"` }));
    expect(await billsOf(connectionId)).toEqual([]);
    expect(await tombstonesOf(connectionId)).toHaveLength(1);
  });
});

describe('an event', () => {
  test.each([
    [
      'of a resource that Daybook does not copy',
      buildDeletionEvent('b', '2024-02-01T00:00:00Z', { resource: '"VENDOR"' }),
    ],
    [
      'of a resource that nobody knows',
      buildDeletionEvent('b', '2024-02-01T00:00:00Z', { resource: '"SHIPMENT"' }),
    ],
    ['of another type', buildDeletionEvent('b', '2024-02-01T00:00:00Z', { type: '"object_merged"' })],
    ['without a resource', buildDeletionEvent('b', '2024-02-01T00:00:00Z', { resource: undefined })],
    ['that is no object', '7'],
  ])('%s is ignored', async (_, event) => {
    const connectionId = await addTestConnection(warehouse);
    await landBills(connectionId, bill('b'));
    const facts = await landEvents(warehouse, { connectionId, events: [event] });
    expect(facts).toMatchObject({ read: 1, unchanged: 1, deleted: 0, quarantined: 0 });
    expect(await billsOf(connectionId)).toEqual(['b']);
    expect(await openEntriesOf(connectionId)).toEqual([]);
  });

  test.each([
    ['without data', { data: undefined }],
    ['with data that is null', { data: 'null' }],
    ['without data.id', { data: '{}' }],
    ['with an empty data.id', { data: '{"id":""}' }],
    ['with a number for data.id', { data: '{"id":7}' }],
    ['without its time', { last_synced_at: undefined }],
    ['with an impossible time', { last_synced_at: '"2024-02-31T00:00:00Z"' }],
  ])('%s is quarantined, and a reconcile of its resource is requested', async (_, fields) => {
    const connectionId = await addTestConnection(warehouse);
    await landBills(connectionId, bill('b'));
    const event = buildDeletionEvent('b', later, fields);
    const facts = await landEvents(warehouse, {
      connectionId,
      events: [event, buildDeletionEvent('other', later)],
    });
    expect(facts).toMatchObject({ read: 2, quarantined: 1, unchanged: 1 });
    expect(await openEntriesOf(connectionId)).toMatchObject([
      {
        resource: 'bills',
        stream: 'events',
        payload: event,
        reason: expect.stringMatching(/^a deletion that/) as string,
      },
    ]);
    expect(await billsOf(connectionId)).toEqual(['b']);
    expect(await wantedOf(connectionId)).toEqual(['bills']);
    // Reading it again leaves the same entry.
    await landEvents(warehouse, { connectionId, events: [event] });
    expect(await openEntriesOf(connectionId)).toHaveLength(1);
  });

  test('moves the watermark of the events to its time if newest, even for a resource that is not copied', async () => {
    const connectionId = await addTestConnection(warehouse);
    const events = [
      buildDeletionEvent('b', '2024-02-01T00:00:00.000Z'),
      buildDeletionEvent('v', '2024-02-03T00:00:00.000001Z', { resource: '"VENDOR"' }),
    ];
    await landEvents(warehouse, { connectionId, events });
    const watermark = `select watermark::text from sync.streams where connection_id = $1 and stream = 'events'`;
    expect(await row(warehouse, watermark, [connectionId])).toEqual({
      watermark: '2024-02-03 00:00:00.000001+00',
    });
  });
});

const later = '2024-02-01T00:00:00Z';

async function landBills(connectionId: string, ...records: string[]): ReturnType<typeof land> {
  return land(warehouse, { connectionId, stream: 'bills', pages: [records] });
}

async function billsOf(connectionId: string): Promise<unknown[]> {
  const held = await rows(warehouse, 'select id from finance.bills where connection_id = $1 order by id', [
    connectionId,
  ]);
  return held.map(({ id }) => id);
}

function tombstonesOf(connectionId: string): Promise<Row[]> {
  return rows(
    warehouse,
    'select version::text, payload, run_id from sync.tombstones where connection_id = $1 order by record_id',
    [connectionId],
  );
}

async function tombstoneOf(connectionId: string): Promise<Row> {
  const [only = {}, ...others] = await tombstonesOf(connectionId);
  expect(others).toEqual([]);
  return only;
}

/** The operations on bill `b`, in the order of history. */
async function historyOf(connectionId: string): Promise<unknown[]> {
  const versions = await rows(
    warehouse,
    `select op from history.record_versions where connection_id = $1 and record_id = 'b' order by recorded_at`,
    [connectionId],
  );
  return versions.map(({ op }) => op);
}

function openEntriesOf(connectionId: string): Promise<Row[]> {
  return rows(
    warehouse,
    `select resource, stream, payload, reason from sync.quarantine where connection_id = $1 and status = 'open'`,
    [connectionId],
  );
}

async function wantedOf(connectionId: string): Promise<unknown[]> {
  const wanted = await rows(
    warehouse,
    'select stream from sync.streams where connection_id = $1 and reconcile_wanted_at is not null order by stream',
    [connectionId],
  );
  return wanted.map(({ stream }) => stream);
}

/** The transactions that wrote the current rows of the connection. */
async function writesOf(connectionId: string): Promise<Row[]> {
  const tables = ['finance.bills', 'finance.bill_lines', 'history.record_versions', 'sync.tombstones'];
  const written = await Promise.all(
    tables.map((table) =>
      rows(
        warehouse,
        `select '${table}' as "table", xmin::text from ${table} where connection_id = $1 order by xmin::text::bigint`,
        [connectionId],
      ),
    ),
  );
  return written.flat();
}
