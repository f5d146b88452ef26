import { resources, streams } from '../../resources/index.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import * as records from './finance-records.ts';
import { land, openPass } from './land.ts';
import { rows, type Row } from './rows.ts';
import { addTestConnection } from './test-connection.ts';
import { addTombstone } from './tombstone.ts';

/** Adds a connection that has a row in every table. */
export async function connectionWithEverything(warehouse: Warehouse): Promise<string> {
  const connectionId = await addTestConnection(warehouse);
  const links = records.list(records.allocation('x'));
  const bill = records.bill('b', {
    linked_payments: links,
    linked_credit_memos: links,
    linked_purchase_orders: links,
    currency_rate: '"N/A"',
  });
  const pages: Record<string, string[]> = {
    bills: [bill, '{}'],
    expenses: [records.expense('e')],
    bill_credit_memos: [records.billCreditMemo('m')],
    customers: [records.customer('c')],
    items: [records.item('i')],
    subscriptions: [records.subscription('s')],
  };
  for (const { stream } of streams) {
    await land(warehouse, { connectionId, stream: stream.name, pages: [pages[stream.name] ?? []] });
  }
  await addTombstone(warehouse, { connectionId, recordId: 'gone', version: '2024-02-01T00:00:00Z' });
  await warehouse.pool.query(
    `insert into sync.tombstones (connection_id, resource, record_id, version, deleted_at, source, payload)
     values ($1, 'subscriptions', 'gone', '2024-02-01', '2024-02-01', 'event', '{"created_at":"2024-01-01T00:00:00Z"}')`,
    [connectionId],
  );
  await warehouse.pool.query(
    `insert into sync.overruled_deletions (connection_id, resource, record_id, versions, until) values ($1, 'bills', 'b', '{2024-02-01}', '2024-02-01')`,
    [connectionId],
  );
  await warehouse.pool.query(
    `insert into sync.discrepancies (connection_id, resource, record_id, kind, status, run_id)
     values ($1, 'bills', 'b', 'stale', 'repaired', 'r')`,
    [connectionId],
  );
  await warehouse.pool.query(
    `with asking as (
       update sync.run_streams set failure_type = 'ApprovalNeeded' where connection_id = $1 and stream = 'bills' returning run_id
     )
     insert into sync.discrepancies (connection_id, resource, record_id, kind, status, run_id, version)
     select $1, 'bills', 'w', 'extra', 'confirmed', min(run_id), '2024-02-01' from asking`,
    [connectionId],
  );
  await warehouse.pool.query(
    `insert into sync.listed_pages (connection_id, stream, listing, page, records) values ($1, 'bills', 1, 0, '[]')`,
    [connectionId],
  );
  await warehouse.pool.query(
    `insert into sync.webhook_inbox (digest, connection_id, type, code, payload) values ('of ' || $1, $1, '', '', '{}')`,
    [connectionId],
  );
  await warehouse.pool.query(
    `insert into sync.quiet_days (connection_id, day, syncs, requests, read) values ($1, '2024-02-01', 1, 8, 0)`,
    [connectionId],
  );
  await warehouse.pool.query(
    `with added as (insert into sync.readers (reader, login, database_name) values ($1, 'of ' || $1, '') returning reader)
     insert into sync.reader_connections (reader, connection_id) select reader, $1 from added`,
    [connectionId],
  );
  await warehouse.pool.query(
    `insert into sync.table_weights (table_name, connection_id, changes, rows, mark) values ('bills', $1, 0, 1, '')`,
    [connectionId],
  );
  await openPass(warehouse, { connectionId, stream: 'bills' });
  return connectionId;
}

/**
 * Alerts are left out: they outlive their connection, so that a person who was told of an alert is also told that it is over. Also left out
 * are the tables written when a connection is removed, and a view that shows nothing to the owner.
 */
export async function rowsPerTable(warehouse: Warehouse, connectionId: string): Promise<Row[]> {
  const inSync = await rows(
    warehouse,
    `select format('sync.%I', table_name) as name from information_schema.columns
     where table_schema = 'sync' and column_name = 'connection_id' and table_name not in ('alerts', 'kept_data', 'removed_runs', 'tombstones_seen')`,
  );
  const tables = [
    ...resources
      .flatMap(({ name, children }) => [name, ...children.map(({ table }) => table)])
      .map((table) => `finance.${table}`),
    'history.record_versions',
    ...inSync.map(({ name }) => String(name)),
  ];
  const counts = tables.map(
    (table) => `select '${table}' as "table", count(*) as held from ${table} where connection_id = $1`,
  );
  return rows(warehouse, counts.join(' union all '), [connectionId]);
}
