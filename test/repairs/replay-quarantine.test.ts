import { beforeEach, describe, expect, test } from 'vitest';
import type { ReplayedEntry } from '../../operations/replay-quarantine.ts';
import { eventually } from '../support/eventually.ts';
import { bill, customer, subscription } from '../support/finance-records.ts';
import { createInstallation } from '../support/installation.ts';
import { land } from '../support/land.ts';
import { proofTest, some } from '../support/proof-test.ts';
import { row, rows, type Row } from '../support/rows.ts';
import { addTombstone } from '../support/tombstone.ts';

const installation = await createInstallation({ commandsInOneProcess: true });
const { admin, warehouse } = installation;

beforeEach(async () => {
  await admin.clearFaults();
  await admin.clearRequests();
  await admin.configure({});
  await warehouse.pool.query('delete from sync.quarantine');
});

describe('a replay fetches a quarantined record again', () => {
  test('and lands a record fixed at the source, in a run of its own', async () => {
    const connection = await installation.connect();
    await quarantine(connection, bill('b', { memo: '7' }));
    await admin.execute({ ...bills(connection), kind: 'add', record: bill('b', { memo: '"mended"' }) });
    const { code, stdout } = await installation.run(['quarantine', 'replay', '--connection', connection]);
    expect(stdout).toMatch(/^\d+ {2}bills b of co-\w+: landed, a good version arrived\n$/);
    expect(code).toBe(0);
    const [run] = await runsOf(connection);
    expect(run).toMatchObject({ status: 'succeeded', stream: 'bills', read: 1, requests: 1, inserted: 1 });
    expect(
      await row(
        warehouse,
        `select memo, _run_id, v.run_id from finance.bills b
         join history.record_versions v on v.connection_id = b.connection_id and v.record_id = b.id
         where b.connection_id = $1`,
        [connection],
      ),
    ).toEqual({ memo: 'mended', _run_id: run?.run_id, run_id: run?.run_id });
  });

  proofTest('and keeps its entry with the current reason if the record is still bad', async () => {
    const connection = await installation.connect();
    await quarantine(connection, bill('b', { memo: '7' }));
    const before = await entryOf(connection);
    await admin.execute({ ...bills(connection), kind: 'add', record: bill('b', { total_amount: '"much"' }) });
    const { code, stdout } = await installation.run(['quarantine', 'replay']);
    expect(stdout).toContain('open, total_amount is a text, not a number');
    expect(code).toBe(3);
    const after = await entryOf(connection);
    expect(after).toMatchObject({ id: before.id, status: 'open' });
    expect(after.last_seen_at > before.last_seen_at).toBe(true);
    expect(await runsOf(connection)).toMatchObject([{ status: 'partial', quarantined: 1 }]);
  });

  proofTest('and continues with others when the fetch of one is refused', async () => {
    const connection = await installation.connect();
    for (const id of ['a', 'b', 'c']) await quarantine(connection, bill(id, { memo: '7' }));
    const match = { connection, path: '/accounting/bills/b' };
    await admin.addFault({ match, fault: { kind: 'status', status: 451 } });
    for (const id of ['a', 'c'])
      await admin.execute({ ...bills(connection), kind: 'add', record: bill(id, { memo: '"mended"' }) });
    await installation.run(['quarantine', 'replay']);
    expect((await heldBills(connection)).length).toBe(2);
  });

  test('and closes its entry when the source no longer has it, but leaves the deletion to a reconcile', async () => {
    const connection = await installation.connect();
    await land(warehouse, { connectionId: connection, stream: 'bills', pages: [[bill('gone')]] });
    await quarantine(connection, bill('gone', { memo: '7' }));
    expect((await installation.run(['quarantine', 'replay'])).code).toBe(0);
    expect(await entryOf(connection)).toMatchObject({
      status: 'discarded',
      closed_why: 'the record was deleted at the source',
    });
    expect(await heldBills(connection)).toEqual([{ id: 'gone' }]);
  });

  test.each(
    some([
      ['to every fetch, as of what cannot be fetched', true, 410],
      ['and there is no other record to hold it against', false, 404],
    ] as const),
  )(
    'and keeps its entry, tried from its stored text, when the service answers 404 %s',
    async (_, every, missingRecordStatus) => {
      const connection = await installation.connect();
      if (every) {
        await hold(connection, 'alive');
        const match = { connection, path: '/accounting/bills/' };
        await admin.addFault({ match, fault: { kind: 'status', status: 404 } });
      }
      await admin.configure({ missingRecordStatus });
      await quarantine(connection, bill('b', { memo: '7' }));
      const { code, stdout } = await installation.run(['quarantine', 'replay']);
      expect(stdout).toContain('open, memo is a number, not a text');
      expect(code).toBe(3);
      // A later release may accept what an earlier one refused; here a changed payload stands in for the release.
      await warehouse.pool.query('update sync.quarantine set payload = $2 where connection_id = $1', [
        connection,
        bill('b', { memo: '"kept"' }),
      ]);
      expect(await replayAll()).toMatchObject([{ status: 'landed', failure: null }]);
    },
  );

  proofTest(
    'and closes its entry when the service answers 404 to it but returns another record',
    async () => {
      const connection = await installation.connect();
      await hold(connection, 'alive');
      await admin.configure({ missingRecordStatus: 404 });
      await quarantine(connection, bill('b', { memo: '7' }), bill('c', { memo: '7' }));
      await admin.clearRequests();
      expect((await installation.run(['quarantine', 'replay'])).code).toBe(0);
      expect(
        await rows(warehouse, 'select status, closed_why from sync.quarantine where connection_id = $1', [
          connection,
        ]),
      ).toEqual([
        { status: 'discarded', closed_why: 'the record was deleted at the source' },
        { status: 'discarded', closed_why: 'the record was deleted at the source' },
      ]);
      // One request asks whether records can be fetched, and one asks for the company before each entry is closed. Each missing record is
      // fetched twice.
      expect(await admin.requests()).toHaveLength(7);
    },
  );

  proofTest('and keeps the entry of a newer bad version that arrives meanwhile', async () => {
    const connection = await installation.connect();
    await quarantine(connection, bill('b', { memo: '7' }));
    await admin.execute({ ...bills(connection), kind: 'add', record: bill('b', { memo: '"good"' }) });
    await admin.addFault({
      match: { connection, path: '/accounting/bills/b' },
      fault: { kind: 'slow', ms: 3_000 },
    });
    const replaying = installation.run(['quarantine', 'replay']);
    await eventually(async () =>
      (await admin.requests()).some(({ path }) => path.endsWith('/b')) ? true : undefined,
    );
    const version = '"2999-01-01T00:00:00.000Z"';
    await quarantine(connection, bill('b', { memo: '8', last_synced_at: version }));
    await replaying;
    expect(await entryOf(connection)).toMatchObject({ status: 'open' });
  });

  test('and does not report as open an entry that was erased meanwhile', async () => {
    const connection = await installation.connect();
    await quarantine(connection, bill('b', { memo: '7' }));
    await admin.execute({ ...bills(connection), kind: 'add', record: bill('b', { memo: '8' }) });
    const match = { connection, path: '/accounting/bills/b' };
    await admin.addFault({ match, fault: { kind: 'slow', ms: 3_000 } });
    const replaying = installation.run(['quarantine', 'replay']);
    await eventually(async () =>
      (await admin.requests()).some(({ path }) => path.endsWith('/b')) ? true : undefined,
    );
    // Removes the entry, as a concurrent erasure does.
    await addTombstone(warehouse, { connectionId: connection, recordId: 'b', version: '2999-01-01' });
    await warehouse.pool.query('delete from sync.quarantine where connection_id = $1', [connection]);
    const { code, stdout } = await replaying;
    expect(stdout).toMatch(/bills b of co-\w+: discarded, the entry was removed meanwhile/);
    expect(code).toBe(0);
  });

  test('and does not restore a deleted record', async () => {
    const connection = await installation.connect();
    await quarantine(connection, bill('b', { memo: '7' }));
    await admin.execute({ ...bills(connection), kind: 'add', record: bill('b') });
    await addTombstone(warehouse, { connectionId: connection, recordId: 'b', version: '2999-01-01' });
    const { code, stdout } = await installation.run(['quarantine', 'replay']);
    expect(stdout).toContain('discarded, a newer version, or the deletion of the record, is known already');
    expect(code).toBe(0);
    expect(await heldBills(connection)).toEqual([]);
  });

  proofTest('and retries when the service failed', async () => {
    const connection = await installation.connect();
    await quarantine(connection, bill('b', { memo: '7' }));
    await admin.execute({ ...bills(connection), kind: 'add', record: bill('b') });
    await admin.addFault({ match: { connection }, times: 1, fault: { kind: 'status', status: 503 } });
    expect((await installation.run(['quarantine', 'replay'])).code).toBe(0);
    expect(await runsOf(connection)).toMatchObject([{ status: 'succeeded', requests: 2 }]);
  });
});

describe('a replay uses the stored text when it cannot fetch', () => {
  test('a subscription, which has no fetch', async () => {
    const connection = await installation.connect({ platform: 'STRIPE' });
    const stream = 'subscriptions';
    await land(warehouse, {
      connectionId: connection,
      stream,
      pages: [[subscription('s', { status: '1' })]],
    });
    const [entry] = await replayAll();
    expect(entry).toMatchObject({ record_id: 's', status: 'open', reason: 'status is a number, not a text' });
    // A later release may accept what an earlier one refused; here a changed payload stands in for the release.
    await warehouse.pool.query('update sync.quarantine set payload = $2 where connection_id = $1', [
      connection,
      subscription('s', { items: '[{"amount":12345678901234567890.10}]' }),
    ]);
    expect(await replayAll()).toMatchObject([{ status: 'landed' }]);
    expect(
      await row(warehouse, `select amount::text from finance.subscription_items where connection_id = $1`, [
        connection,
      ]),
    ).toEqual({ amount: '12345678901234567890.10' });
  });

  proofTest('a record without a usable ID, whose entry is closed when it lands', async () => {
    const connection = await installation.connect();
    await quarantine(connection, bill('', {}));
    expect(await replayAll()).toMatchObject([{ status: 'open', reason: 'id is empty' }]);
    await warehouse.pool.query('update sync.quarantine set payload = $2 where connection_id = $1', [
      connection,
      bill('mended'),
    ]);
    expect(await replayAll()).toMatchObject([{ status: 'landed', failure: null }]);
    expect(await heldBills(connection)).toEqual([{ id: 'mended' }]);
  });

  proofTest('but never for an event, even if it looks like a record', async () => {
    const connection = await installation.connect();
    await quarantine(connection, bill('b', { memo: '7' }));
    await warehouse.pool.query(
      `update sync.quarantine set stream = 'events', payload = $2 where connection_id = $1`,
      [connection, bill('b')],
    );
    const { code, stdout } = await installation.run(['quarantine', 'replay']);
    expect(stdout).toContain('a reconcile finds out');
    expect(code).toBe(3);
    expect(await heldBills(connection)).toEqual([]);
    expect(await runsOf(connection)).toEqual([]);
  });
});

proofTest(
  'a replay with refused credentials sends one request, and keeps every entry with the reason',
  async () => {
    const connection = await installation.connect({ token: 'nobody-has-this-token' });
    await quarantine(connection, bill('a', { memo: '7' }), bill('b', { memo: '7' }));
    await admin.clearRequests();
    const { code, stdout, stderr } = await installation.run(['quarantine', 'replay']);
    expect(stdout.match(/open, .* was refused for its credentials/g)).toHaveLength(2);
    expect(code).toBe(3);
    expect(stdout + stderr).not.toContain('nobody-has-this-token');
    expect(await admin.requests()).toHaveLength(1);
    expect(await runsOf(connection)).toMatchObject([{ status: 'failed', requests: 1 }]);
  },
);

test('a replay continues with another resource when every fetch of one is told to wait', async () => {
  const connection = await installation.connect();
  // The newest entries are replayed first.
  await quarantine(connection, customer('c', { email: '7' }));
  await quarantine(connection, bill('a', { memo: '7' }), bill('b', { memo: '7' }));
  await admin.execute({ connection, resource: 'customers', kind: 'add', record: customer('c') });
  await admin.addFault({
    match: { connection, path: '/accounting/bills/' },
    fault: { kind: 'status', status: 452, retryAfter: '90' },
  });
  const { code, stdout } = await installation.run(['quarantine', 'replay']);
  expect(stdout.match(/bills [ab] of co-\w+: open, /g)).toHaveLength(2);
  expect(stdout).toMatch(/customers c of co-\w+: landed/);
  expect(code).toBe(3);
});

test('a replay does not fetch for a connection of another API address', async () => {
  const connection = await installation.connect();
  await quarantine(connection, bill('b', { memo: '7' }));
  await warehouse.pool.query('update sync.connections set api_address = $2 where connection_id = $1', [
    connection,
    'https://elsewhere.example.com',
  ]);
  const [entry] = await replayAll();
  expect(entry?.failure).toContain('was added under the API address https://elsewhere.example.com');
  expect(await runsOf(connection)).toEqual([]);
});

test('a replay tries only the entries it names, with one run per connection, and skips closed ones', async () => {
  const connections = [await installation.connect(), await installation.connect()];
  for (const connection of connections) {
    await quarantine(connection, customer('c', { email: '7' }), customer('d', { email: '7' }));
    const target = { connection, resource: 'customers' } as const;
    await admin.execute({ ...target, kind: 'add', record: customer('c') });
  }
  const listed = await rows(warehouse, `select id from sync.quarantine where record_id = 'c' order by id`);
  const ids = listed.map(({ id }) => String(id));
  const first = await installation.run(['quarantine', 'replay', ...ids, '--json']);
  expect(first.code).toBe(0);
  expect(JSON.parse(first.stdout)).toMatchObject(ids.map((id) => ({ id: Number(id), status: 'landed' })));
  const again = await installation.run(['quarantine', 'replay', ...ids]);
  expect(again.stdout.match(/landed, a good version arrived/g)).toHaveLength(2);
  expect(again.code).toBe(0);
  for (const connection of connections) expect(await runsOf(connection)).toHaveLength(1);
  expect(await rows(warehouse, `select 1 from sync.quarantine where status = 'open'`)).toHaveLength(2);
});

describe('the discard command', () => {
  test('closes entries with the given reason', async () => {
    const connection = await installation.connect();
    await quarantine(connection, bill('b', { memo: '7' }));
    const { id } = await entryOf(connection);
    const args = ['quarantine', 'discard', String(id), '--why', 'test data'];
    const { code, stdout } = await installation.run(args);
    expect(stdout).toBe(`${String(id)}  bills b of ${connection}: discarded, test data\n`);
    expect(code).toBe(0);
    expect(await entryOf(connection)).toMatchObject({ status: 'discarded', closed_why: 'test data' });
    const again = await installation.run([...args.slice(0, -1), 'another reason', '--json']);
    expect(JSON.parse(again.stdout)).toMatchObject([{ status: 'discarded', closed_why: 'test data' }]);
  });

  test.each([
    ['without a reason', ['discard', '1'], "required option '--why <text>' not specified"],
    ['with an empty reason', ['discard', '1', '--why', ' '], '--why needs a reason'],
    ['of an unknown entry', ['discard', '999999', '--why', 'x'], 'There is no quarantine entry 999999'],
    ['and so is a replay of an unknown entry', ['replay', '999999'], 'There is no quarantine entry 999999'],
    ['and so is a replay of no number', ['replay', 'twelve'], 'whole number'],
  ])('%s is a usage error', async (_, args, sentence) => {
    const { code, stderr } = await installation.run(['quarantine', ...args]);
    expect(stderr).toContain(sentence);
    expect(code).toBe(2);
  });
});

/** Lands a page of bad records, as a sync does. */
async function quarantine(connectionId: string, ...records: string[]): Promise<void> {
  const stream = records[0]?.includes('customer_name') === true ? 'customers' : 'bills';
  await land(warehouse, { connectionId, stream, pages: [records] });
}

/** Adds a bill to both the source and the warehouse. */
async function hold(connection: string, id: string): Promise<void> {
  await admin.execute({ ...bills(connection), kind: 'add', record: bill(id) });
  await land(warehouse, { connectionId: connection, stream: 'bills', pages: [[bill(id)]] });
}

async function replayAll(): Promise<ReplayedEntry[]> {
  const { stdout } = await installation.run(['quarantine', 'replay', '--json']);
  return JSON.parse(stdout) as ReplayedEntry[];
}

function bills(connection: string): { connection: string; resource: 'bills' } {
  return { connection, resource: 'bills' };
}

function entryOf(connectionId: string): Promise<Row & { last_seen_at: string }> {
  return row(
    warehouse,
    `select id, status, reason, closed_why, last_seen_at::text from sync.quarantine where connection_id = $1`,
    [connectionId],
  ) as Promise<Row & { last_seen_at: string }>;
}

function runsOf(connectionId: string): Promise<Row[]> {
  return rows(
    warehouse,
    `select r.run_id, r.status, s.stream, s.requests, s.read, s.inserted, s.quarantined
     from sync.runs r join sync.run_streams s using (run_id)
     where r.connection_id = $1 and r.kind = 'replay' order by r.started_at`,
    [connectionId],
  );
}

function heldBills(connectionId: string): Promise<Row[]> {
  return rows(warehouse, 'select id from finance.bills where connection_id = $1', [connectionId]);
}
