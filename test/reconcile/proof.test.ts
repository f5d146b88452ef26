import { afterEach, describe, expect, test } from 'vitest';
import { bill, billLine, customer, expense, list } from '../support/finance-records.ts';
import { createInstallation } from '../support/installation.ts';
import { proofTest } from '../support/proof-test.ts';
import { readFoundDiscrepancies, readProofs, reconcile } from '../support/reconcile.ts';
import { row, rows, type Row } from '../support/rows.ts';
import { statusesOf, sync } from '../support/sync.ts';

const installation = await createInstallation();
const { warehouse, admin } = installation;
await installation.startWorker();

afterEach(async () => {
  await admin.clearFaults();
  await admin.configure({});
});

describe('a reconcile without discrepancies', () => {
  test('succeeds with equal counts and sums per currency for source and warehouse', async () => {
    const connection = await synced();
    const { run, failure } = await reconcile(installation, connection);
    expect(failure).toBeUndefined();
    expect(run).toMatchObject({ kind: 'reconcile', status: 'succeeded', failure: null, reason: 'test' });
    expect(await readFoundDiscrepancies(installation, connection)).toEqual([]);
    const proofs = await readProofs(installation, run);
    expect(Object.keys(proofs).sort()).toEqual(
      ['bill_credit_memos', 'bills', 'customers', 'expenses', 'items', 'refunds', 'subscriptions'].sort(),
    );
    for (const [stream, proof] of Object.entries(proofs)) {
      expect(proof?.equal, stream).toBe(true);
      expect(proof?.source, stream).toEqual(proof?.warehouse);
      const records = Object.values(proof?.source ?? {}).map((totals) => Number(totals.records));
      expect(
        records.reduce((sum, count) => sum + count, 0),
        stream,
      ).toBe(run.streams.find((one) => one.stream === stream)?.read);
    }
    expect((await installation.compare(connection)).differences).toEqual([]);
  });

  proofTest('writes nothing to finance and history, and moves no watermark', async () => {
    const connection = await synced();
    const before = await readState(connection);
    await admin.activity({ connection, changes: 0, touches: 0 });
    await reconcile(installation, connection);
    expect(await readState(connection)).toEqual(before);
  });

  test('leaves no stored listing pages', async () => {
    const connection = await synced();
    await reconcile(installation, connection);
    for (const table of ['sync.listed_pages', 'sync.passes'])
      expect(await rows(warehouse, `select from ${table} where connection_id = $1`, [connection])).toEqual(
        [],
      );
  });

  test('sums every currency exactly, with every digit that the source sent', async () => {
    const connection = await installation.connect({ records: 100 });
    // The sandbox makes up no bill in this currency.
    const amounts = { amount_due: '0', line_items: '[]', currency_code: '"XTS"' };
    await add(connection, 'bills', bill('a', { ...amounts, total_amount: '123456789012345678.10' }));
    await add(connection, 'bills', bill('b', { ...amounts, total_amount: '0.0000000000000000001' }));
    await add(
      connection,
      'bills',
      bill('c', {
        ...amounts,
        total_amount: '-1.50',
        currency_code: '"XXX"',
        line_items: list(billLine(), billLine()),
      }),
    );
    await sync(installation, connection);
    const { run } = await reconcile(installation, connection, { resources: ['bills'] });
    const { bills } = await readProofs(installation, run);
    expect(bills?.equal).toBe(true);
    expect(bills?.source.XTS).toMatchObject({
      records: '2',
      total_amount: '123456789012345678.1000000000000000001',
    });
    expect(bills?.warehouse.XXX).toMatchObject({
      records: '1',
      total_amount: '-1.50',
      'bill_lines.total_amount': '220.50',
    });
  });

  test('lands everything for a connection that was never synced, and leaves the watermarks to the first sync', async () => {
    const connection = await installation.connect();
    const { run } = await reconcile(installation, connection);
    expect(run.status).toBe('succeeded');
    expect((await installation.compare(connection)).differences).toEqual([]);
    expect(await readFoundDiscrepancies(installation, connection)).toEqual([]);
    expect(
      await rows(warehouse, 'select from sync.streams where connection_id = $1 and watermark is not null', [
        connection,
      ]),
    ).toEqual([]);
    await sync(installation, connection);
    expect((await installation.compare(connection)).differences).toEqual([]);
  });
});

describe('damage to finance tables is repaired with no new version in history:', () => {
  test.for([
    ['an amount that changed', 'update finance.bills set total_amount = total_amount + 0.01', 'damaged'],
    ['a text that became null', 'update finance.bills set document_number = null', 'damaged'],
    ['a row that was deleted', 'delete from finance.bills', 'missing'],
  ] as const)('%s', async ([, damage, kind]) => {
    const connection = await synced(['bills']);
    const { id } = await row(
      warehouse,
      'select min(id) as id from finance.bills where connection_id = $1 and document_number is not null',
      [connection],
    );
    await expectRepaired(connection, {
      damage: [`${damage} where connection_id = $1 and id = $2`],
      id: String(id),
      kind,
    });
  });

  test.for([
    ['a line that was removed', 'delete from finance.bill_lines where position = 0'],
    [
      'a line that was added',
      `insert into finance.bill_lines (connection_id, bill_id, position, total_amount)
       select connection_id, bill_id, 99, 1 from finance.bill_lines where position = 0`,
    ],
    ['lines that were all removed', 'delete from finance.bill_lines where position >= 0'],
  ] as const)('%s', async ([, damage]) => {
    const connection = await synced(['bills']);
    const id = await billWithLines(connection);
    const statement = `${damage} and connection_id = $1 and bill_id = $2`;
    await expectRepaired(connection, { damage: [statement], id, kind: 'damaged' });
  });

  proofTest('lines that changed places', async () => {
    const connection = await synced(['bills']);
    const id = await billWithLines(connection);
    const lines = 'connection_id = $1 and bill_id = $2';
    // Moves by way of free positions, because an update may not meet a taken one.
    const damage = [
      `update finance.bill_lines set position = -1 - position where ${lines}`,
      `update finance.bill_lines
       set position = position + (select count(*) from finance.bill_lines where ${lines}) where ${lines}`,
    ];
    await expectRepaired(connection, { damage, id, kind: 'damaged' });
  });

  proofTest('digits that changed while the number did not', async () => {
    const connection = await synced();
    await add(connection, 'bills', bill('b', { total_amount: '1.0' }));
    await sync(installation, connection);
    await warehouse.pool.query(
      `update finance.bills set total_amount = 1.00 where connection_id = $1 and id = 'b'`,
      [connection],
    );
    await reconcile(installation, connection);
    expect(await readFoundDiscrepancies(installation, connection)).toEqual([
      { resource: 'bills', record_id: 'b', kind: 'damaged', status: 'repaired' },
    ]);
    expect(
      await row(
        warehouse,
        `select total_amount::text from finance.bills where connection_id = $1 and id = 'b'`,
        [connection],
      ),
    ).toEqual({ total_amount: '1.0' });
  });

  test('rows of every resource and list', async () => {
    const connection = await synced();
    const versions = await countVersions(connection);
    for (const damage of [
      'update finance.expenses set memo = $2',
      'delete from finance.expense_lines where position = 0 and $2 <> $1',
      'update finance.bill_credit_memos set remaining_amount = coalesce(remaining_amount, 0) + length($2)',
      'delete from finance.customers where $2 <> $1',
      'update finance.items set quantity_on_hand = length($2)',
      'update finance.subscription_items set unit_amount = length($2)',
    ]) {
      const where = damage.includes('where') ? 'and' : 'where';
      await warehouse.pool.query(`${damage} ${where} connection_id = $1`, [connection, 'damaged']);
    }
    const { run } = await reconcile(installation, connection);
    expect(run.status).toBe('succeeded');
    expect((await installation.compare(connection)).differences).toEqual([]);
    expect(await countVersions(connection)).toEqual(versions);
    const found = await readFoundDiscrepancies(installation, connection);
    expect(new Set(found.map(({ kind, status }) => `${kind} ${status}`))).toEqual(
      new Set(['damaged repaired', 'missing repaired']),
    );
    expect(new Set(found.map(({ resource }) => resource))).toEqual(
      new Set(['expenses', 'bill_credit_memos', 'customers', 'items', 'subscriptions']),
    );
  });

  proofTest('a row that the source never had', async () => {
    const connection = await synced();
    await warehouse.pool.query(
      `insert into finance.bills (connection_id, id, last_synced_at, total_amount, _run_id, _first_seen_at, _changed_at, _content_hash)
       select connection_id, 'made-up', last_synced_at, 1, _run_id, _first_seen_at, _changed_at, _content_hash
       from finance.bills where connection_id = $1 limit 1`,
      [connection],
    );
    const { run } = await reconcile(installation, connection);
    expect(run.status).toBe('succeeded');
    expect(await readFoundDiscrepancies(installation, connection)).toEqual([
      { resource: 'bills', record_id: 'made-up', kind: 'extra', status: 'repaired' },
    ]);
    expect((await installation.compare(connection)).differences).toEqual([]);
  });

  proofTest('and a repeated reconcile finds nothing more', async () => {
    const connection = await synced();
    await warehouse.pool.query('update finance.bills set total_amount = 0.01 where connection_id = $1', [
      connection,
    ]);
    await reconcile(installation, connection);
    const found = await readFoundDiscrepancies(installation, connection);
    await reconcile(installation, connection);
    expect(await readFoundDiscrepancies(installation, connection)).toEqual(found);
  });
});

describe('a change that an incremental sync cannot see', () => {
  test('is found as missing, and lands, for a record added with an old last_synced_at', async () => {
    const connection = await synced();
    // A list that has shown nothing yet is read from its beginning.
    await add(connection, 'expenses', expense('refund', { expense_type: '"refund"' }));
    await sync(installation, connection);
    await add(connection, 'bills', bill('late', longAgo), true);
    await add(connection, 'customers', customer('late', longAgo), true);
    await add(connection, 'expenses', expense('late', { ...longAgo, expense_type: '"refund"' }), true);
    expect((await sync(installation, connection)).run.status).toBe('succeeded');
    const { run } = await reconcile(installation, connection);
    expect(run.status).toBe('succeeded');
    expect(await readFoundDiscrepancies(installation, connection)).toEqual(
      ['bills', 'customers', 'expenses'].map((resource) => ({
        resource,
        record_id: 'late',
        kind: 'missing',
        status: 'repaired',
      })),
    );
    expect((await installation.compare(connection)).differences).toEqual([]);
  });

  test('is found as stale, and adds a version to history, for a record changed under an old last_synced_at', async () => {
    const connection = await installation.connect({ records: 100 });
    await add(connection, 'bills', bill('b'), true);
    await sync(installation, connection);
    await add(connection, 'bills', bill('b', { memo: '"rewritten"' }), true);
    await sync(installation, connection);
    await reconcile(installation, connection);
    expect(await readFoundDiscrepancies(installation, connection)).toEqual([
      { resource: 'bills', record_id: 'b', kind: 'stale', status: 'repaired' },
    ]);
    expect(
      await rows(
        warehouse,
        `select op from history.record_versions where connection_id = $1 and record_id = 'b'`,
        [connection],
      ),
    ).toHaveLength(2);
  });

  proofTest('a change that the next sync would read is not a discrepancy', async () => {
    const connection = await synced();
    await admin.activity({ connection, changes: 3, touches: 3 });
    await add(connection, 'bills', bill('new'));
    const { run } = await reconcile(installation, connection);
    expect(run.status).toBe('succeeded');
    expect(await readFoundDiscrepancies(installation, connection)).toEqual([]);
    expect((await installation.compare(connection)).differences).toEqual([]);
  });

  proofTest(
    'a reconcile never moves a watermark, and the next sync starts at the same point as before',
    async () => {
      const connection = await synced();
      const before = await readWatermarks(connection);
      await admin.activity({ connection, changes: 3 });
      await reconcile(installation, connection);
      expect(await readWatermarks(connection)).toEqual(before);
      await admin.clearRequests();
      await sync(installation, connection);
      const [first] = (await admin.requests()).filter(({ path }) => path === '/accounting/bills');
      const floor = Number(new URLSearchParams(first?.query).get('last_synced_at_min'));
      const watermark = before.find(({ stream }) => stream === 'bills')?.milliseconds;
      expect(floor).toBe(Number(watermark) - 661_000);
    },
  );
});

describe('a reconcile with a record in quarantine', () => {
  test('is partial and proves nothing, but keeps the last good version of the record', async () => {
    const connection = await synced();
    const [id = ''] = await billIds(connection);
    await admin.execute({ kind: 'change', connection, resource: 'bills', id, patch: '{"memo":7}' });
    const { run, failure } = await reconcile(installation, connection);
    expect(failure).toBeUndefined();
    expect(run.status).toBe('partial');
    expect(statusesOf(run)).toMatchObject({ bills: 'partial', customers: 'succeeded' });
    expect((await billIds(connection)).includes(id)).toBe(true);
    expect(await readFoundDiscrepancies(installation, connection)).toEqual([]);
    expect((await readProofs(installation, run)).bills?.equal).toBe(false);
  });
});

const longAgo = { updated_at: '"2011-04-10T08:00:00.000Z"', last_synced_at: '"2011-04-11T00:00:00.000Z"' };

async function synced(only?: string[]): Promise<string> {
  const connection = await installation.connect({ records: 300 });
  const { run } = await sync(installation, connection, only && { resources: only });
  expect(run.status).toBe('succeeded');
  return connection;
}

async function add(
  connection: string,
  resource: 'bills' | 'customers' | 'expenses',
  record: string,
  keepLastSyncedAt = false,
): Promise<void> {
  await admin.execute({ kind: 'add', connection, resource, record, keepLastSyncedAt });
}

/** Reads, reconciles and compares only bills. */
async function expectRepaired(
  connection: string,
  { damage, id, kind }: { damage: readonly string[]; id: string | undefined; kind: string },
): Promise<void> {
  const versions = await countVersions(connection);
  for (const statement of damage) await warehouse.pool.query(statement, [connection, id]);
  const compared = { tables: ['bills'] };
  expect((await installation.compare(connection, compared)).differences).not.toEqual([]);
  const { run } = await reconcile(installation, connection, { resources: ['bills'] });
  expect(run.status).toBe('succeeded');
  expect(await readFoundDiscrepancies(installation, connection)).toEqual([
    { resource: 'bills', record_id: id, kind, status: 'repaired' },
  ]);
  expect((await installation.compare(connection, compared)).differences).toEqual([]);
  expect(await countVersions(connection)).toEqual(versions);
}

async function billIds(connection: string): Promise<string[]> {
  const ids = await rows(warehouse, 'select id from finance.bills where connection_id = $1 order by id', [
    connection,
  ]);
  return ids.map(({ id }) => String(id));
}

async function billWithLines(connection: string): Promise<string> {
  const { bill_id } = await row(
    warehouse,
    `select bill_id from finance.bill_lines where connection_id = $1
     group by bill_id having count(*) > 1 order by bill_id limit 1`,
    [connection],
  );
  return String(bill_id);
}

async function countVersions(connection: string): Promise<Row> {
  return row(
    warehouse,
    'select count(*) as versions, max(recorded_at)::text as newest from history.record_versions where connection_id = $1',
    [connection],
  );
}

function readWatermarks(connection: string): Promise<Row[]> {
  return rows(
    warehouse,
    `select stream, watermark::text, floor(extract(epoch from watermark) * 1000)::bigint as milliseconds
     from sync.streams where connection_id = $1 order by stream`,
    [connection],
  );
}

/** The transactions that wrote the current rows, and the watermarks. */
async function readState(connection: string): Promise<unknown[]> {
  const tables = [
    'bills',
    'bill_lines',
    'expenses',
    'bill_credit_memos',
    'customers',
    'items',
    'subscriptions',
  ];
  const written = await Promise.all(
    [...tables.map((table) => `finance.${table}`), 'history.record_versions'].map((table) =>
      rows(
        warehouse,
        `select '${table}' as "table", count(*) as rows, max(xmin::text::bigint) as newest from ${table} where connection_id = $1`,
        [connection],
      ),
    ),
  );
  return [...written, await readWatermarks(connection)];
}
