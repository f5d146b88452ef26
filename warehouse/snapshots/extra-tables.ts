import { resourceNames } from '../../resources/index.ts';
import type { ColumnKind } from '../../resources/resource.ts';
import { markSql } from './mark.ts';
import { notGoing } from './not-going.ts';
import { snapshotColumn, type SnapshotTable } from './snapshot-table.ts';

/** Tables that marts need beside the finance tables. They hold no secrets and no bodies: not the payload of deleted or quarantined records. */
export const extraTables: readonly SnapshotTable[] = [
  table('deleted_records', {
    from: '(select connection_id, resource, record_id as id, deleted_at, source, xmin from sync.tombstones) as deleted',
    key: ['connection_id', 'resource', 'id'],
    columns: { connection_id: 'id', resource: 'text', id: 'id', deleted_at: 'time', source: 'text' },
    changesBy: { writtenTo: 'sync.tombstones', resource: undefined },
  }),
  // The creation time of a subscription tells whether history learned of it late, also once it is gone.
  table('deleted_subscriptions', {
    from: `(
      select connection_id, record_id as subscription_id, nullif(payload ->> 'created_at', '')::timestamptz as created_at, xmin
      from sync.tombstones where resource = 'subscriptions' and payload is not null
    ) as deleted_subscriptions`,
    key: ['connection_id', 'subscription_id'],
    columns: { connection_id: 'id', subscription_id: 'id', created_at: 'time' },
    changesBy: { writtenTo: 'sync.tombstones', resource: undefined },
  }),
  table('waiting_deletions', {
    from: '(select connection_id, resource, record_id as id from sync.waiting_deletions) as waiting',
    key: ['connection_id', 'resource', 'id'],
    columns: { connection_id: 'id', resource: 'text', id: 'id' },
    changesBy: 'content',
  }),
  table('connections', {
    from: '(select * from finance.connections join (select connection_id, api_address, created_at from sync.connections) as added using (connection_id)) as connections',
    key: ['connection_id'],
    columns: {
      connection_id: 'id',
      name: 'text',
      platform: 'text',
      org_id: 'id',
      api_address: 'text',
      created_at: 'time',
      ...Object.fromEntries(resourceNames.map((name) => [`${name}_last_success_at`, 'time' as const])),
    },
    // A sync that has found nothing new is no reason for a snapshot.
    changesBy: { contentOf: ['connection_id', 'platform', 'org_id', 'api_address', 'created_at'] },
  }),
  table('streams', {
    from: 'sync.streams',
    key: ['connection_id', 'stream'],
    columns: {
      connection_id: 'id',
      stream: 'text',
      resource: 'text',
      capability: 'text',
      watermark: 'time',
      last_success_at: 'time',
      last_reconcile_at: 'time',
      stalled_at: 'time',
    },
    changesBy: 'none',
  }),
  table('runs', {
    // Joined at once: looking up the streams of each run takes twice as long.
    from: `(
      select *
      from sync.runs
      left join (
        select run_id,
          sum(read)::bigint as read, sum(inserted)::bigint as inserted, sum(updated)::bigint as updated,
          sum(unchanged)::bigint as unchanged, sum(deleted)::bigint as deleted,
          sum(quarantined)::bigint as quarantined
        from sync.run_streams group by run_id
      ) as streams using (run_id)
    ) as runs`,
    key: ['run_id'],
    columns: {
      run_id: 'id',
      connection_id: 'id',
      kind: 'text',
      status: 'text',
      started_at: 'time',
      finished_at: 'time',
      read: 'integer',
      inserted: 'integer',
      updated: 'integer',
      unchanged: 'integer',
      deleted: 'integer',
      quarantined: 'integer',
    },
    changesBy: 'none',
  }),
  table('stream_months', {
    from: 'history.stream_months',
    key: ['connection_id', 'stream', 'month'],
    columns: { connection_id: 'id', stream: 'text', month: 'date', outcome: 'text', complete_until: 'date' },
    // A sync of another day that has found nothing new is no reason for a snapshot either; another month is one.
    changesBy: { contentOf: ['connection_id', 'stream', 'month', 'outcome'] },
  }),
  table('quarantine_counts', {
    from: `(
      select connection_id, resource, count(*) as open_entries
      from sync.quarantine where status = 'open' group by connection_id, resource
    ) as quarantine_counts`,
    key: ['connection_id', 'resource'],
    columns: { connection_id: 'id', resource: 'text', open_entries: 'integer' },
    changesBy: 'content',
  }),
  table('field_issue_counts', {
    // In the place of one transaction: another number when the rows that are counted are others.
    from: `(
      select connection_id, resource, field, count(*) as issues, hashtextextended(${markSql}, 0) as xmin
      from sync.field_issues group by connection_id, resource, field
    ) as field_issue_counts`,
    key: ['connection_id', 'resource', 'field'],
    columns: { connection_id: 'id', resource: 'text', field: 'text', issues: 'integer' },
    changesBy: { writtenTo: 'sync.field_issues', resource: undefined },
  }),
  // Without the value: it is not a number, and may be anything.
  table('field_issues', {
    from: '(select connection_id, resource, record_id as id, field, xmin from sync.field_issues) as issues',
    key: ['connection_id', 'resource', 'id', 'field'],
    columns: { connection_id: 'id', resource: 'text', id: 'id', field: 'text' },
    changesBy: { writtenTo: 'sync.field_issues', resource: undefined },
  }),
  table('subscription_item_versions', {
    from: 'history.subscription_item_versions',
    key: ['connection_id', 'subscription_id', 'recorded_at', 'position'],
    columns: {
      connection_id: 'id',
      subscription_id: 'id',
      position: 'integer',
      recorded_at: 'time',
      op: 'text',
      status: 'enum',
      platform_customer_id: 'id',
      iso_currency_code: 'currency',
      interval: 'enum',
      interval_count: 'integer',
      quantity: 'quantity',
      amount: 'amount',
      unit_amount: 'price',
    },
    // A new version of a subscription also shows as a new row of finance.subscriptions, or one less.
    changesBy: 'none',
  }),
];

function table(
  name: string,
  {
    columns,
    key,
    from,
    changesBy,
  }: Pick<SnapshotTable, 'from' | 'key' | 'changesBy'> & { columns: Record<string, ColumnKind> },
): SnapshotTable {
  const described = Object.entries(columns).map(([column, kind]) => snapshotColumn(column, kind));
  return {
    name,
    key,
    columns: described,
    orderBy: key,
    changesBy,
    from: `(select * from ${from} where connection_id is null or ${notGoing}) as ${name}`,
  };
}
