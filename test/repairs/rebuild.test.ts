import { describe, expect, test } from 'vitest';
import { rebuildConnection, type RebuiltResource } from '../../operations/rebuild-connection.ts';
import { resources } from '../../resources/index.ts';
import {
  allocation,
  bill,
  billCreditMemo,
  billLine,
  customer,
  expense,
  item,
  list,
  subscription,
} from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { row, rows, type Row } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { addTombstone } from '../support/tombstone.ts';
import { tablesOf } from './tables-of.ts';

const { warehouse } = await createTestDatabase();

const source: Record<string, string[]> = {
  bills: [
    bill('b', {
      total_amount: '123456789012345678.10',
      line_items: list(billLine({ sub_total: '1.00' }), billLine({ item: 'null' })),
      linked_payments: list(allocation('p')),
    }),
    bill('plain', { currency_rate: '"N/A"', line_items: '[]' }),
  ],
  expenses: [expense('e')],
  bill_credit_memos: [billCreditMemo('m')],
  customers: [customer('c', { customer_name: '"Zoë 🧾"' })],
  items: [item('i')],
  subscriptions: [subscription('s')],
};

describe('a rebuild after damage restores the tables, byte for byte', () => {
  test.each([
    ['amounts changed', 'update finance.bills set total_amount = total_amount + 0.01'],
    ['digits lost', 'update finance.bill_lines set sub_total = 1.0'],
    ['a column that an older release did not know', 'update finance.customers set customer_name = null'],
    ['lines removed', 'delete from finance.bill_lines'],
    ['lines moved', 'update finance.bill_lines set position = position + 5'],
    ['lines of a record that is none', `update finance.expense_lines set expense_id = 'nobody'`],
    ['an older version', `update finance.bills set last_synced_at = '2001-01-01', memo = 'old'`],
    ['rows that are no records', `update finance.items set id = 'nobody'`, 'items'],
    ['rows deleted, lists left', 'delete from finance.bills', 'bills'],
    ['a row of its own deleted', 'delete from finance.subscriptions', 'subscriptions'],
  ])('%s', async (_, damage, lost = '') => {
    const connectionId = await copy();
    const other = await copy();
    const before = [await tablesOf(warehouse, connectionId, lost), await tablesOf(warehouse, other)];
    await warehouse.pool.query(`${damage} where connection_id = $1`, [connectionId]);
    expect(await tablesOf(warehouse, connectionId, lost)).not.toEqual(before[0]);
    await rebuild(connectionId);
    expect([await tablesOf(warehouse, connectionId, lost), await tablesOf(warehouse, other)]).toEqual(before);
  });

  test('and changes nothing without damage, hashes included', async () => {
    const connectionId = await copy();
    const before = await tablesOf(warehouse, connectionId);
    await rebuild(connectionId);
    expect(await tablesOf(warehouse, connectionId)).toEqual(before);
  });
});

describe('a rebuild keeps what only the row or only history knows', () => {
  test('for a newer version of the same content', async () => {
    const connectionId = await copy();
    const touched = bill('plain', {
      currency_rate: '"N/A"',
      line_items: '[]',
      last_synced_at: '"2024-05-01T00:00:00.000001Z"',
    });
    await land(warehouse, { connectionId, stream: 'bills', pages: [[touched]] });
    const before = await tablesOf(warehouse, connectionId);
    await rebuild(connectionId);
    expect(await tablesOf(warehouse, connectionId)).toEqual(before);
  });

  test('for a lost row: when it came, when it changed, and by which run', async () => {
    const connectionId = await addTestConnection(warehouse);
    for (const [runId, memo] of [
      ['first', '"A"'],
      ['second', '"B"'],
    ] as const) {
      const pages = [[bill('b', { memo })]];
      await land(warehouse, { connectionId, stream: 'bills', pages, runId: `${runId} of ${connectionId}` });
    }
    const before = await tablesOf(warehouse, connectionId, 'bills');
    await warehouse.pool.query('delete from finance.bills where connection_id = $1', [connectionId]);
    await rebuild(connectionId);
    expect(await tablesOf(warehouse, connectionId, 'bills')).toEqual(before);
  });

  test('for a record that lived again: it was first seen when it came back', async () => {
    const connectionId = await addTestConnection(warehouse);
    await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('b')]] });
    await deleteRecord(connectionId, 'b');
    const again = bill('b', { last_synced_at: '"2024-06-01T00:00:00Z"' });
    await land(warehouse, { connectionId, stream: 'bills', pages: [[again]] });
    const before = await tablesOf(warehouse, connectionId, 'bills');
    await warehouse.pool.query('delete from finance.bills where connection_id = $1', [connectionId]);
    await rebuild(connectionId);
    expect(await tablesOf(warehouse, connectionId, 'bills')).toEqual(before);
  });
});

test('a rebuild does not restore a deleted record, and removes a row of it', async () => {
  const connectionId = await copy();
  await deleteRecord(connectionId, 'b');
  const before = await tablesOf(warehouse, connectionId);
  await warehouse.pool.query(
    `insert into finance.bills (connection_id, id, _run_id, _first_seen_at, _changed_at, _content_hash)
     values ($1, 'b', 'nobody', now(), now(), '')`,
    [connectionId],
  );
  await warehouse.pool.query(
    `insert into finance.bill_lines (connection_id, bill_id, position) values ($1, 'b', 0)`,
    [connectionId],
  );
  expect(await rebuild(connectionId)).toContainEqual({
    resource: 'bills',
    written: 1,
    restored: 0,
    removed: 1,
  });
  expect(await tablesOf(warehouse, connectionId)).toEqual(before);
});

test('a rebuild does not change the state of syncs, quarantine, and history', async () => {
  const connectionId = await copy();
  await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('bad', { memo: '7' })]] });
  await addTombstone(warehouse, { connectionId, recordId: 'dead', version: '2024-01-01' });
  const before = await stateOf(connectionId);
  await rebuild(connectionId);
  expect(await stateOf(connectionId)).toEqual(before);
});

test('a restored record counts as unchanged when it arrives again', async () => {
  const connectionId = await copy();
  const before = await tablesOf(warehouse, connectionId);
  await warehouse.pool.query('delete from finance.bills where connection_id = $1', [connectionId]);
  await rebuild(connectionId);
  const pages = [source.bills ?? []];
  expect(await land(warehouse, { connectionId, stream: 'bills', pages })).toMatchObject([{ unchanged: 2 }]);
  expect(await tablesOf(warehouse, connectionId)).toEqual(before);
  expect(await rows(warehouse, versionsOf, [connectionId])).toHaveLength(7);
});

test('a rebuild of one resource leaves the others, and its run says what was done', async () => {
  const connectionId = await copy();
  await warehouse.pool.query('delete from finance.expenses where connection_id = $1', [connectionId]);
  await warehouse.pool.query('delete from finance.items where connection_id = $1', [connectionId]);
  const resource = resources.filter(({ name }) => name === 'expenses');
  expect(await rebuild(connectionId, resource)).toEqual([
    { resource: 'expenses', written: 1, restored: 1, removed: 0 },
  ]);
  expect(await rows(warehouse, 'select from finance.items where connection_id = $1', [connectionId])).toEqual(
    [],
  );
  expect(
    await row(
      warehouse,
      `select r.kind, r.status, s.stream, s.read, s.inserted from sync.runs r join sync.run_streams s using (run_id)
       where r.connection_id = $1 and r.kind = 'rebuild'`,
      [connectionId],
    ),
  ).toEqual({ kind: 'rebuild', status: 'succeeded', stream: 'expenses', read: 1, inserted: 1 });
});

/** Lands the source as a connection of its own. */
async function copy(): Promise<string> {
  const connectionId = await addTestConnection(warehouse);
  for (const [stream, records] of Object.entries(source))
    await land(warehouse, { connectionId, stream, pages: [records] });
  return connectionId;
}

function rebuild(connectionId: string, wanted = resources): Promise<RebuiltResource[]> {
  return rebuildConnection(warehouse, { connectionId, resources: wanted, onBatch: () => undefined });
}

const versionsOf =
  'select * from history.record_versions where connection_id = $1 order by resource, record_id';

function stateOf(connectionId: string): Promise<Row[][]> {
  const tables = ['streams', 'passes', 'quarantine', 'tombstones', 'field_issues'];
  const selects = tables.map(
    (table) => `select * from sync.${table} t where connection_id = $1 order by t::text`,
  );
  return Promise.all([versionsOf, ...selects].map((select) => rows(warehouse, select, [connectionId])));
}

/** Deletes a record, as an event does. */
async function deleteRecord(connectionId: string, id: string): Promise<void> {
  await warehouse.pool.query(`delete from finance.bills where connection_id = $1 and id = $2`, [
    connectionId,
    id,
  ]);
  for (const { table, parentKey } of resources[0]?.children ?? []) {
    await warehouse.pool.query(
      `delete from finance.${table} where connection_id = $1 and ${parentKey} = $2`,
      [connectionId, id],
    );
  }
  await warehouse.pool.query(
    `insert into history.record_versions (connection_id, resource, record_id, recorded_at, op)
     values ($1, 'bills', $2, clock_timestamp(), 'delete')`,
    [connectionId, id],
  );
}
