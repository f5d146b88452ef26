import { describe, expect, test } from 'vitest';
import type { PageFacts } from '../../warehouse/passes/record-page.ts';
import { allocation, bill, billLine, item, list, subscription } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { row, rows, type Row } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse } = await createTestDatabase();

test('A, then B, then A again adds three rows', async () => {
  const connectionId = await addTestConnection(warehouse);
  for (const [day, memo] of ['A', 'B', 'A'].entries()) {
    await landBills(
      connectionId,
      'run',
      bill('b', { memo: `"${memo}"`, last_synced_at: `"2024-02-0${day + 1}"` }),
    );
  }
  expect(await versionsOf(connectionId)).toMatchObject([
    { op: 'upsert', memo: 'A', last_synced_at: '2024-02-01 00:00:00+00' },
    { op: 'upsert', memo: 'B', last_synced_at: '2024-02-02 00:00:00+00' },
    { op: 'upsert', memo: 'A', last_synced_at: '2024-02-03 00:00:00+00' },
  ]);
});

describe('a touched record (only last_synced_at moved) counts as unchanged, but its last_synced_at is stored', () => {
  test('and it adds no row to history, and _run_id and _changed_at stay', async () => {
    const connectionId = await addTestConnection(warehouse);
    await landBills(connectionId, 'first', bill('b', { last_synced_at: '"2024-02-01T00:00:00Z"' }));
    const before = await stampsOf(connectionId);
    const touched = bill('b', { last_synced_at: '"2024-02-02T00:00:00.000001Z"' });
    expect(await landBills(connectionId, 'second', touched)).toMatchObject({ unchanged: 1, updated: 0 });
    expect(await stampsOf(connectionId)).toEqual({
      ...before,
      last_synced_at: '2024-02-02 00:00:00.000001+00',
    });
    expect(await versionsOf(connectionId)).toHaveLength(1);
  });

  test('whatever the spacing and order of its fields', async () => {
    const connectionId = await addTestConnection(warehouse);
    await landBills(connectionId, 'first', bill('b', { last_synced_at: '"2024-02-01T00:00:00Z"' }));
    const fields = Object.entries(
      JSON.parse(bill('b', { last_synced_at: '"2024-02-02T00:00:00Z"' })) as object,
    );
    const reordered = JSON.stringify(Object.fromEntries(fields.reverse()), null, 2);
    expect(await landBills(connectionId, 'second', reordered)).toMatchObject({ unchanged: 1, updated: 0 });
    expect(await stampsOf(connectionId)).toMatchObject({
      _run_id: `first of ${connectionId}`,
      last_synced_at: '2024-02-02 00:00:00+00',
    });
    expect(await versionsOf(connectionId)).toHaveLength(1);
  });

  test('even if platform_data has a last_synced_at of its own', async () => {
    const connectionId = await addTestConnection(warehouse);
    const at = (day: number): string =>
      `{"platform_data":{"last_synced_at":"2024-02-01"},"id":"b","last_synced_at":"2024-02-0${day}"}`;
    await landBills(connectionId, 'first', at(1));
    expect(await landBills(connectionId, 'second', at(2))).toMatchObject({ unchanged: 1 });
    const changed = at(3).replace('{"last_synced_at":"2024-02-01"}', '{"last_synced_at":"2024-02-03"}');
    expect(await landBills(connectionId, 'third', changed)).toMatchObject({ updated: 1 });
  });
});

test('_run_id and _changed_at name the run that last changed the row, and _first_seen_at stays', async () => {
  const connectionId = await addTestConnection(warehouse);
  await landBills(connectionId, 'first', bill('b'));
  const before = await stampsOf(connectionId);
  await landBills(connectionId, 'second', bill('b', { memo: '"changed"' }));
  const after = await stampsOf(connectionId);
  expect(after).toMatchObject({
    _run_id: `second of ${connectionId}`,
    _first_seen_at: before._first_seen_at,
  });
  expect(String(after._changed_at) > String(before._changed_at)).toBe(true);
  expect(await versionsOf(connectionId)).toMatchObject([
    { run_id: `first of ${connectionId}` },
    { run_id: `second of ${connectionId}` },
  ]);
});

test('the updated_at of a subscription is content: a change of it is a new version', async () => {
  const connectionId = await addTestConnection(warehouse);
  const pages = [[subscription('s')], [subscription('s', { updated_at: '"2024-02-01T00:00:00Z"' })]];
  const [, facts] = await land(warehouse, { connectionId, stream: 'subscriptions', pages });
  expect(facts).toMatchObject({ updated: 1 });
  expect(await versionsOf(connectionId)).toHaveLength(2);
});

test('a page that lands twice writes nothing to finance and history the second time', async () => {
  const connectionId = await addTestConnection(warehouse);
  const bills = [
    bill('a', { linked_payments: list(allocation('p')), linked_purchase_orders: '[{"id":"o"}]' }),
    bill('b', { currency_rate: '"N/A"', line_items: list(billLine(), billLine()) }),
  ];
  const landAll = async (): Promise<PageFacts[]> => [
    ...(await land(warehouse, { connectionId, stream: 'bills', pages: [bills] })),
    ...(await land(warehouse, { connectionId, stream: 'items', pages: [[item('i')]] })),
  ];
  await landAll();
  const before = await physicalRows(connectionId);
  expect(before).toHaveLength(2 + 3 + 1 + 1 + 1 + 1 + 3 + 1);
  expect(await landAll()).toMatchObject([
    { inserted: 0, updated: 0, unchanged: 2 },
    { inserted: 0, updated: 0, unchanged: 1 },
  ]);
  expect(await physicalRows(connectionId)).toEqual(before);
});

describe('history.as_of', () => {
  test('returns the records as the warehouse knew them then', async () => {
    const connectionId = await addTestConnection(warehouse);
    const moments: unknown[] = [await now()];
    for (const memo of ['"one"', '"two"']) {
      await landBills(connectionId, 'run', bill('b', { memo }), bill('other'));
      moments.push(await now());
    }
    const known = await Promise.all(moments.map((moment) => asOf(connectionId, moment)));
    expect(known).toEqual([
      [],
      [
        { record_id: 'b', memo: 'one' },
        { record_id: 'other', memo: null },
      ],
      [
        { record_id: 'b', memo: 'two' },
        { record_id: 'other', memo: null },
      ],
    ]);
  });

  test('excludes a record once its deletion is recorded', async () => {
    const connectionId = await addTestConnection(warehouse);
    await landBills(connectionId, 'run', bill('b'));
    const alive = await now();
    await warehouse.pool.query(
      `insert into history.record_versions (connection_id, resource, record_id, recorded_at, op)
       values ($1, 'bills', 'b', clock_timestamp(), 'delete')`,
      [connectionId],
    );
    expect(await asOf(connectionId, alive)).toHaveLength(1);
    expect(await asOf(connectionId, await now())).toEqual([]);
  });
});

async function landBills(
  connectionId: string,
  run: string,
  ...records: string[]
): Promise<PageFacts | undefined> {
  const runId = `${run} of ${connectionId}`;
  // A run has finished a stream once it read the last page, so a run that lands twice counts as two.
  await warehouse.pool.query('delete from sync.run_streams where run_id = $1', [runId]);
  const [facts] = await land(warehouse, { connectionId, stream: 'bills', runId, pages: [records] });
  return facts;
}

function versionsOf(connectionId: string): Promise<Row[]> {
  return rows(
    warehouse,
    `select op, payload ->> 'memo' as memo, last_synced_at::text, run_id
     from history.record_versions where connection_id = $1 order by recorded_at`,
    [connectionId],
  );
}

function stampsOf(connectionId: string): Promise<Row> {
  return row(
    warehouse,
    `select _run_id, _first_seen_at::text, _changed_at::text, last_synced_at::text
     from finance.bills where connection_id = $1`,
    [connectionId],
  );
}

/** The location of each row of the connection and the transaction that wrote it. Any write shows, even of the same values. */
function physicalRows(connectionId: string): Promise<Row[]> {
  const tables = [
    'bills',
    'bill_lines',
    'bill_payment_allocations',
    'bill_purchase_orders',
    'items',
    'item_subsidiaries',
  ];
  const selects = [
    ...tables.map((table) => `finance.${table}`),
    'history.record_versions',
    'sync.field_issues',
  ].map(
    (table) =>
      `select '${table}' as name, ctid::text as place, xmin::text as writer from ${table} where connection_id = $1`,
  );
  return rows(warehouse, `${selects.join(' union all ')} order by name, place`, [connectionId]);
}

async function now(): Promise<unknown> {
  return (await row(warehouse, 'select clock_timestamp()::text as now')).now;
}

function asOf(connectionId: string, moment: unknown): Promise<Row[]> {
  return rows(
    warehouse,
    `select record_id, payload ->> 'memo' as memo from history.as_of('bills', $2)
     where connection_id = $1 order by record_id`,
    [connectionId, moment],
  );
}
