import { randomUUID } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { resources, streamNamed } from '../../resources/index.ts';
import { sourceRecord } from '../../resources/source-record.ts';
import { addConnection, ConnectionBeingRemoved } from '../../warehouse/connections/add-connection.ts';
import { beginRemoval, RemovedWithRecords } from '../../warehouse/connections/begin-removal.ts';
import { finishRemoval } from '../../warehouse/connections/finish-removal.ts';
import { readKeptData } from '../../warehouse/connections/kept-data.ts';
import { listConnections } from '../../warehouse/connections/list-connections.ts';
import { listRemovals } from '../../warehouse/connections/list-removals.ts';
import { removeConnection } from '../../warehouse/connections/remove-connection.ts';
import { rowsPerBatch } from '../../warehouse/transactions/rows-per-batch.ts';
import { readAccess } from '../../warehouse/connections/read-access.ts';
import { LeaseLost, TokenNotProved, UnknownConnection } from '../../warehouse/errors.ts';
import { landFetched } from '../../warehouse/landing/land-fetched.ts';
import { takePass } from '../../warehouse/passes/take-pass.ts';
import { pruneWarehouse } from '../../warehouse/retention/prune-warehouse.ts';
import { snapshotTables } from '../../warehouse/snapshots/snapshot-tables.ts';
import { storeWebhooks } from '../../warehouse/webhooks/store-webhooks.ts';
import { connectionWithEverything, rowsPerTable } from '../support/connection-with-everything.ts';
import { endingSessions } from '../support/ending-sessions.ts';
import { bill } from '../support/finance-records.ts';
import { begin, landRecords, openPass } from '../support/land.ts';
import { proofDescribe } from '../support/proof-test.ts';
import { row, rows, type Row } from '../support/rows.ts';
import { testApiAddress, testKey } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse } = await createTestDatabase();

const keep = { runsMilliseconds: 90 * 86_400_000, historyMilliseconds: null };

describe('a removal', () => {
  test('deletes at most one batch per transaction, and everything in the end', async () => {
    const connectionId = await connectionWithEverything(warehouse);
    await manyRows(connectionId, 20_000);
    await countDeletions();
    await removeConnection(warehouse, { connectionId, keepData: false });
    expect(await leftOf(connectionId)).toEqual([]);
    const { largest, sum } = await row(
      warehouse,
      `select max(rows)::int as largest, sum(rows)::int as sum
       from (select transaction, sum(rows) as rows from deletions group by transaction) as each`,
    );
    expect(largest).toBe(rowsPerBatch);
    // Bills, lines and versions, and for each of 2,000 runs one row and those of eight streams.
    expect(sum).toBeGreaterThan(3 * 20_000 + 9 * 2_000);
  });

  test('with --keep-data deletes the runs in batches', async () => {
    const connectionId = await connectionWithEverything(warehouse);
    await manyRows(connectionId, 20_000);
    await countDeletions();
    await removeConnection(warehouse, { connectionId, keepData: true });
    const { largest } = await row(
      warehouse,
      `select max(rows)::int as largest
       from (select transaction, sum(rows) as rows from deletions group by transaction) as each`,
    );
    expect(largest).toBeLessThanOrEqual(rowsPerBatch);
    expect(await held('finance.bills', connectionId)).toBe(20_001);
    expect(await held('sync.runs', connectionId)).toBe(0);
  });

  test('run twice at once is done once', async () => {
    const connectionId = await connectionWithEverything(warehouse);
    await manyRows(connectionId, 20_000);
    const { removal } = await beginRemoval(warehouse, { connectionId, keepData: false });
    const other = await beginRemoval(warehouse, { connectionId, keepData: false });
    expect(other.removal).toEqual(removal);
    const deleted = await Promise.all([
      finishRemoval(warehouse, { removal: removal! }),
      finishRemoval(warehouse, { removal: removal! }),
    ]);
    expect(Math.min(...deleted)).toBeGreaterThan(0);
    expect(await leftOf(connectionId)).toEqual([]);
    const third = removeConnection(warehouse, { connectionId, keepData: false });
    await expect(third).rejects.toThrow(UnknownConnection);
  });

  test('that comes late does not touch a connection added again under the name', async () => {
    const connectionId = await connectionWithEverything(warehouse);
    const { removal } = await beginRemoval(warehouse, { connectionId, keepData: false });
    await finishRemoval(warehouse, { removal: removal! });
    await add(connectionId);
    const { pass } = await openPass(warehouse, { connectionId, stream: 'bills' });
    await landRecords(warehouse, { pass, records: [bill('of-another')] });
    expect(await finishRemoval(warehouse, { removal: removal! })).toBe(0);
    expect(await held('finance.bills', connectionId)).toBe(1);
    // Nor while that connection is being removed, by whatever command.
    await beginRemoval(warehouse, { connectionId, keepData: true });
    expect(await finishRemoval(warehouse, { removal: removal! })).toBe(0);
    expect(await held('finance.bills', connectionId)).toBe(1);
  });

  test('deletes rows that a standby restores when it takes over between two batches', async () => {
    const connectionId = await connectionWithEverything(warehouse);
    await warehouse.pool.query(`
      create table public.standby as select * from finance.bills where connection_id = '${connectionId}';
      create function public.take_over() returns trigger language plpgsql as $$ begin
        with lost as (delete from public.standby returning *) insert into finance.bills select * from lost;
        return null;
      end $$;
      create trigger take_over after delete on sync.quarantine for each statement execute function public.take_over()`);
    onTestFinished(async () => {
      await warehouse.pool.query('drop function public.take_over cascade; drop table public.standby');
    });
    await removeConnection(warehouse, { connectionId, keepData: false });
    expect((await row(warehouse, 'select count(*)::int as left from public.standby')).left).toBe(0);
    expect(await leftOf(connectionId)).toEqual([]);
  });

  test('is refused with --keep-data once records are being deleted', async () => {
    const connectionId = await connectionWithEverything(warehouse);
    await beginRemoval(warehouse, { connectionId, keepData: false });
    const keeping = removeConnection(warehouse, { connectionId, keepData: true });
    await expect(keeping).rejects.toThrow(RemovedWithRecords);
    await removeConnection(warehouse, { connectionId, keepData: false });
    expect(await leftOf(connectionId)).toEqual([]);
  });

  test('with --keep-data deletes the records when it is finished without --keep-data', async () => {
    const connectionId = await connectionWithEverything(warehouse);
    const { removal } = await beginRemoval(warehouse, { connectionId, keepData: true });
    await removeConnection(warehouse, { connectionId, keepData: false });
    expect(await leftOf(connectionId)).toEqual([]);
    expect(await finishRemoval(warehouse, { removal: removal! })).toBe(0);
  });

  test('is finished by prune, whose dry run counts it', async () => {
    const connectionId = await connectionWithEverything(warehouse);
    await beginRemoval(warehouse, { connectionId, keepData: false });
    const counted = await pruneWarehouse(warehouse, { keep, dryRun: true });
    expect(counted['connections being removed']).toBeGreaterThan(0);
    expect(await leftOf(connectionId)).not.toEqual([]);
    await pruneWarehouse(warehouse, { keep, dryRun: false });
    expect(await leftOf(connectionId)).toEqual([]);
    expect(await listRemovals(warehouse)).toEqual([]);
  });
});

proofDescribe('a killed removal', () => {
  test.each(['before', 'after'] as const)(
    'continues when run again, if it was killed %s any of its commits',
    async (when) => {
      // The mark, then the tables one by one, and the row at the end.
      for (let [at, died] = [1, true]; died; at += at < 3 ? 1 : 7) {
        const connectionId = await connectionWithEverything(warehouse);
        const dying = endingSessions(warehouse, when, { at });
        died = await removeConnection(dying, { connectionId, keepData: false }).then(
          () => false,
          () => true,
        );
        if (died && (at > 1 || when === 'after')) await expectHidden(connectionId);
        await removeConnection(warehouse, { connectionId, keepData: false }).catch((error: unknown) => {
          // A caller that did not hear of the success learns that no such connection exists.
          if (!(error instanceof UnknownConnection)) throw error;
        });
        expect(await leftOf(connectionId)).toEqual([]);
      }
    },
  );

  test('keeps all records with --keep-data, and completes when run again', async () => {
    const connectionId = await connectionWithEverything(warehouse);
    const before = await dataOf(connectionId);
    for (const at of [2, 3, 4, 5]) {
      const dying = endingSessions(warehouse, 'after', { at });
      await expect(removeConnection(dying, { connectionId, keepData: true })).rejects.toThrow();
      expect(await dataOf(connectionId)).toEqual(before);
      expect(await readKeptData(warehouse, connectionId)).toEqual([]);
    }
    const { kept } = await removeConnection(warehouse, { connectionId, keepData: true });
    expect(kept).toMatchObject({ connection_id: connectionId });
    expect(await dataOf(connectionId)).toEqual(before);
    await add(connectionId);
  });

  test('completes for kept data when run again, and holds the name until then', async () => {
    const connectionId = await connectionWithEverything(warehouse);
    await removeConnection(warehouse, { connectionId, keepData: true });
    const dying = endingSessions(warehouse, 'after', { at: 9 });
    await expect(removeConnection(dying, { connectionId, keepData: false })).rejects.toThrow();
    await expect(add(connectionId)).rejects.toThrow(ConnectionBeingRemoved);
    await removeConnection(warehouse, { connectionId, keepData: false });
    expect(await leftOf(connectionId)).toEqual([]);
    await add(connectionId);
  });
});

describe('a connection that is being removed', () => {
  test('cannot be added again until the removal is finished', async () => {
    const connectionId = await connectionWithEverything(warehouse);
    await beginRemoval(warehouse, { connectionId, keepData: false });
    await expect(add(connectionId)).rejects.toThrow(
      `${connectionId} is being removed: run the command again to finish`,
    );
    await removeConnection(warehouse, { connectionId, keepData: false });
    await add(connectionId);
  });

  test('lands no page in flight, nor one of a new attempt', async () => {
    const connectionId = await connectionWithEverything(warehouse);
    const { pass } = await openPass(warehouse, { connectionId, stream: 'bills' });
    const { removal } = await beginRemoval(warehouse, { connectionId, keepData: false });
    await expect(landRecords(warehouse, { pass, records: [bill('late')] })).rejects.toThrow(LeaseLost);
    const again = { ...pass, lease: randomUUID() };
    await takePass(warehouse, { pass: again, ...streamNamed('bills'), lookbackMilliseconds: 0 });
    const late = landRecords(warehouse, { pass: again, records: [bill('late')] });
    await expect(late).rejects.toThrow(TokenNotProved);
    await finishRemoval(warehouse, { removal: removal! });
    expect(await leftOf(connectionId)).toEqual([]);
  });

  test('begins, reads, and fetches nothing, and its webhooks are ignored', async () => {
    const connectionId = await connectionWithEverything(warehouse);
    await warehouse.pool.query(
      `update sync.connections set service_connection_id = $1 where connection_id = $1`,
      [connectionId],
    );
    await beginRemoval(warehouse, { connectionId, keepData: false });
    const gone = UnknownConnection;
    await expect(begin(warehouse, { connectionId, runId: randomUUID() })).rejects.toThrow(gone);
    const asked = { connectionId, apiAddress: testApiAddress };
    await expect(readAccess(warehouse, () => Promise.resolve(testKey), asked)).rejects.toThrow(gone);
    const { resource } = streamNamed('bills');
    const fetched = { connectionId, resource, runId: 'r', token: null, servedAt: null };
    const landing = landFetched(warehouse, { ...fetched, record: sourceRecord(bill('late')) });
    await expect(landing).rejects.toThrow(gone);
    const told = { type: 'BILL', code: 'BILL_UPDATED', resource, recordId: 'b', version: null };
    const webhook = { text: '{}', digest: randomUUID(), serviceConnectionId: connectionId, ...told };
    const stored = await storeWebhooks(warehouse, { apiAddress: testApiAddress, webhooks: [webhook] });
    expect(stored.due).toEqual([]);
    const inbox = 'select connection_id, status from sync.webhook_inbox where digest = $1';
    expect(await row(warehouse, inbox, [webhook.digest])).toEqual({
      connection_id: null,
      status: 'ignored',
    });
  });

  test('has no token, and its company may be added under another name', async () => {
    const connectionId = await connectionWithEverything(warehouse);
    const pin = `update sync.connections set service_connection_id = 'one company' where connection_id = $1`;
    await warehouse.pool.query(pin, [connectionId]);
    await beginRemoval(warehouse, { connectionId, keepData: false });
    const left =
      'select octet_length(token_sealed) as bytes from sync.all_connections where connection_id = $1';
    expect(await row(warehouse, left, [connectionId])).toEqual({ bytes: 0 });
    const other = await connectionWithEverything(warehouse);
    await warehouse.pool.query(pin, [other]);
    await warehouse.pool.query(pin.replace("'one company'", 'null'), [other]);
  });

  test('is left out of snapshots while its rows are still there, and others are not', async () => {
    const [connectionId, other] = [
      await connectionWithEverything(warehouse),
      await connectionWithEverything(warehouse),
    ];
    const before = await inSnapshots(other);
    expect(before).toEqual(await inSnapshots(connectionId));
    expect(before.filter(({ held: count }) => count === 0)).toEqual([]);
    const { removal } = await beginRemoval(warehouse, { connectionId, keepData: false });
    expect(await held('finance.bills', connectionId)).toBe(1);
    expect((await inSnapshots(connectionId)).filter(({ held: count }) => count !== 0)).toEqual([]);
    expect(await inSnapshots(other)).toEqual(before);
    await finishRemoval(warehouse, { removal: removal! });
    expect(await inSnapshots(other)).toEqual(before);
  });

  test('appears to consumers of changes as cleared, without its remaining rows', async () => {
    const connectionId = await connectionWithEverything(warehouse);
    const before = { [connectionId]: '2020-01-01' };
    await beginRemoval(warehouse, { connectionId, keepData: false });
    expect(await changesSince(connectionId, before)).toEqual([{ op: 'clear' }]);
    expect(await changesSince(connectionId, {})).toEqual([]);
    await removeConnection(warehouse, { connectionId, keepData: false });
    expect(await changesSince(connectionId, before)).toEqual([{ op: 'clear' }]);
  });

  test('loses its reader grants, unless its records are kept', async () => {
    const grants = 'sync.reader_connections';
    const [gone, kept] = [
      await connectionWithEverything(warehouse),
      await connectionWithEverything(warehouse),
    ];
    await beginRemoval(warehouse, { connectionId: gone, keepData: false });
    await beginRemoval(warehouse, { connectionId: kept, keepData: true });
    expect([await held(grants, gone), await held(grants, kept)]).toEqual([0, 1]);
  });
});

/** Expects that nobody finds the connection, although parts of it are still there. */
async function expectHidden(connectionId: string): Promise<void> {
  expect((await listConnections(warehouse)).map(({ connection_id: name }) => name)).not.toContain(
    connectionId,
  );
  expect(await held('finance.connections', connectionId)).toBe(0);
  expect(await readKeptData(warehouse, connectionId)).toEqual([]);
  expect((await inSnapshots(connectionId)).filter(({ held: count }) => count !== 0)).toEqual([]);
}

async function add(connectionId: string): Promise<void> {
  const rest = { apiAddress: testApiAddress, token: 'token', expandPlatformData: false };
  await addConnection(warehouse, testKey, { connectionId, ...rest }).catch((error: unknown) => {
    if (!(error instanceof Error) || error.name !== 'RecordsKept') throw error;
  });
}

/** Adds so many bills, lines and versions, and a tenth as many runs with eight streams each. */
async function manyRows(connectionId: string, count: number): Promise<void> {
  const values = [connectionId, count];
  const ids = `generate_series(1, $2::int) i`;
  for (const statement of [
    `insert into finance.bills (connection_id, id, _run_id, _first_seen_at, _changed_at, _content_hash)
     select $1, 'many-' || i, 'r', now(), now(), '' from ${ids}`,
    `insert into finance.bill_lines (connection_id, bill_id, position) select $1, 'many-' || i, 0 from ${ids}`,
    `insert into history.record_versions (connection_id, resource, record_id, recorded_at, last_synced_at, op, payload, run_id)
     select $1, 'bills', 'many-' || i, now(), now(), 'upsert', '{}', 'r' from ${ids}`,
    `insert into sync.runs (run_id, connection_id, kind, status, workflow_id, temporal_run_id, reason, finished_at)
     select $1 || i, $1, 'sync', 'succeeded', '', '', '', now() from generate_series(1, $2::int / 10) i`,
    `insert into sync.run_streams (run_id, connection_id, stream, status)
     select $1 || i, $1, 'stream-' || s, 'succeeded' from generate_series(1, $2::int / 10) i, generate_series(1, 8) s`,
  ])
    await warehouse.pool.query(statement, values);
}

/** Makes Postgres count, until the test is over, the rows that each transaction deletes. */
async function countDeletions(): Promise<void> {
  const tables = await rows(
    warehouse,
    `select oid::regclass::text as name from pg_class
     where relnamespace in ('finance'::regnamespace, 'history'::regnamespace, 'sync'::regnamespace) and relkind = 'r'
       and oid <> 'sync.locks'::regclass`,
  );
  const counted = tables.map(
    ({ name }) =>
      `create trigger counted after delete on ${String(name)} referencing old table as gone
       for each statement execute function count_deletions()`,
  );
  await warehouse.pool.query(`
    create table deletions (transaction xid8, rows bigint);
    create function count_deletions() returns trigger language plpgsql as $$
    begin
      insert into public.deletions select pg_current_xact_id(), count(*) from gone;
      return null;
    end $$;
    ${counted.join(';')}`);
  onTestFinished(async () => {
    await warehouse.pool.query('drop function count_deletions() cascade; drop table deletions');
  });
}

async function held(table: string, connectionId: string): Promise<unknown> {
  const counted = `select count(*)::int as held from ${table} where connection_id = $1`;
  return (await row(warehouse, counted, [connectionId])).held;
}

async function leftOf(connectionId: string): Promise<Row[]> {
  return (await rowsPerTable(warehouse, connectionId)).filter(({ held: count }) => count !== 0);
}

async function dataOf(connectionId: string): Promise<Row[]> {
  return (await rowsPerTable(warehouse, connectionId)).filter(({ table }) =>
    /^(finance|history)\.(?!connections)|^sync\.(tombstones|overruled_deletions|field_issues)$/.test(
      String(table),
    ),
  );
}

async function inSnapshots(connectionId: string): Promise<Row[]> {
  const counts = snapshotTables.map(
    ({ name, from }) =>
      `select '${name}' as "table", count(*)::int as held from ${from} where connection_id = $1`,
  );
  return rows(warehouse, counts.join(' union all '), [connectionId]);
}

async function changesSince(connectionId: string, since: Record<string, string>): Promise<Row[]> {
  const found = resources.map(
    ({ name }) => `select op, connection_id from history.changed_since('${name}', $2)`,
  );
  return rows(
    warehouse,
    `select distinct op from (${found.join(' union all ')}) as changed where connection_id = $1`,
    [connectionId, JSON.stringify(since)],
  );
}
