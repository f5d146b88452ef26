import { afterAll, beforeAll, expect, test } from 'vitest';
import { openWarehouse } from '../../warehouse/open-warehouse.ts';
import { deleteAbsent } from '../../warehouse/reconcile/delete-absent.ts';
import { findAbsent } from '../../warehouse/reconcile/find-absent.ts';
import { bill } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { buildDeletionEvent, landEvents } from '../support/land-events.ts';
import { landListing } from '../support/land-listing.ts';
import { isProof } from '../support/proof-test.ts';
import { rows } from '../support/rows.ts';
import { rowsLookedAtSoFar } from '../support/rows-looked-at.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { limitStatementTime } from '../support/limit-statement-time.ts';

/** Statements that compare records in memory, and read few rows, show only with the 8,000 of `npm run proof`, by their time. */
const many = isProof ? 8_000 : 1_000;
const { url } = await createTestDatabase();
// One session, so that its statistics can be asked for.
const warehouse = openWarehouse({ url, connections: 1 });
afterAll(() => warehouse.close());
let connectionId: string;

/** A page of half of them must cost as much as its records, however many the connection has. Statistics say nothing about a new connection. */
beforeAll(async () => {
  const other = await addTestConnection(warehouse);
  await landAll(other, {});
  await landAll(other, { total_amount: '{}' }, 'refused');
  await landEvents(warehouse, { connectionId: other, events: deletions('2025-01-05T00:00:00Z', 'gone') });
  await announce(other);
  const tables = `select format('%I.%I', schemaname, relname) as name from pg_stat_user_tables where schemaname in ('finance', 'history', 'sync')`;
  for (const { name } of await rows(warehouse, tables)) {
    await warehouse.pool.query(`analyze ${String(name)}`);
    await warehouse.pool.query(`alter table ${String(name)} set (autovacuum_enabled = off)`);
  }
  connectionId = await addTestConnection(warehouse);
  if (isProof) await limitStatementTime(warehouse);
});

test('pages that touch, change, quarantine, and settle held records read few rows', async () => {
  expect(await landAll(connectionId, { last_synced_at: day(1) })).toMatchObject({ inserted: many });
  expect(await landAll(connectionId, { last_synced_at: day(2) })).toMatchObject({ unchanged: many });
  expect(await landAll(connectionId, { last_synced_at: day(3), total_amount: '{}' })).toMatchObject({
    quarantined: many,
  });
  await announce(connectionId);
  expect(await landAll(connectionId, { last_synced_at: day(4), memo: '"4"' })).toMatchObject({
    updated: many,
  });
});

test('deletion events older or newer than held records read few rows', async () => {
  await lookingAtFew(() =>
    landEvents(warehouse, { connectionId, events: deletions('2025-01-02T12:00:00Z') }),
  );
  const refused = { last_synced_at: day(5), total_amount: '{}' };
  expect(await landAll(connectionId, refused)).toMatchObject({ quarantined: many });
  expect(
    await lookingAtFew(() =>
      landEvents(warehouse, { connectionId, events: deletions('2025-01-06T00:00:00Z') }),
    ),
  ).toMatchObject({ deleted: many });
  expect(await landAll(connectionId, { last_synced_at: day(7) })).toMatchObject({ inserted: many });
});

test('a reconcile of records that never landed and are gone reads few rows', async () => {
  const lost = await addTestConnection(warehouse);
  await landAll(lost, { last_synced_at: day(1), total_amount: '{}' });
  const one = await landListing(warehouse, {
    connectionId: lost,
    stream: 'bills',
    records: [bill('one')],
    servedAt: new Date(),
  });
  expect(await lookingAtFew(() => findAbsent(warehouse, one))).toMatchObject({ absent: many });
  // Confirms them as fetches would, which take minutes.
  await warehouse.pool.query(
    `update sync.discrepancies set status = 'confirmed' where connection_id = $1 and closed_at is null`,
    [lost],
  );
  await lookingAtFew(() => deleteAbsent(warehouse, { ...one, limit: 1 }));
  const open = `select count(*)::int as entries from sync.quarantine where connection_id = $1 and status = 'open'`;
  expect(await rows(warehouse, open, [lost])).toEqual([{ entries: 0 }]);
});

function day(n: number): string {
  return `"2025-01-0${n}T00:00:00.000Z"`;
}

function deletions(at: string, name = 'bill'): ReturnType<typeof buildDeletionEvent>[] {
  return Array.from({ length: many }, (_, n) => buildDeletionEvent(`${name}-${n}`, at));
}

async function landAll(
  connection: string,
  fields: Record<string, string>,
  name = 'bill',
): Promise<Record<string, number>> {
  const records = Array.from({ length: many }, (_, n) => bill(`${name}-${n}`, fields));
  const pages = [records.slice(0, many / 2), records.slice(many / 2)];
  const landed = await lookingAtFew(() =>
    land(warehouse, { connectionId: connection, stream: 'bills', pages }),
  );
  const sum = (what: 'inserted' | 'updated' | 'unchanged' | 'quarantined'): number =>
    landed.reduce((total, one) => total + one[what], 0);
  return {
    inserted: sum('inserted'),
    updated: sum('updated'),
    unchanged: sum('unchanged'),
    quarantined: sum('quarantined'),
  };
}

/** Expects few rows read per record of any table or index. A plan that reads all rows of the connection for each record looks at hundreds. */
async function lookingAtFew<Done>(work: () => Promise<Done>): Promise<Done> {
  const before = await rowsLookedAtSoFar(warehouse);
  const done = await work();
  const perRecord = [...(await rowsLookedAtSoFar(warehouse))].map(([what, rows]) => ({
    what,
    rows: (rows - (before.get(what) ?? 0)) / many,
  }));
  expect(perRecord.filter(({ rows }) => rows > 40)).toEqual([]);
  return done;
}

async function announce(connection: string): Promise<void> {
  await warehouse.pool.query(
    `insert into sync.webhook_inbox
       (digest, deliveries, service_connection_id, connection_id, type, code, resource, record_id, payload, status)
     select $1 || n, 1, $1, $1, 'BILL', 'BILL_UPDATED', 'bills', 'bill-' || n, '{}', 'waiting' from generate_series(0, $2::int - 1) n`,
    [connection, many],
  );
}
