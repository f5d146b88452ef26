import { describe, expect, test } from 'vitest';
import { resources, streams } from '../../resources/index.ts';
import { columnKinds, type Column } from '../../resources/resource.ts';
import type { Database } from '../../warehouse/tables/database.ts';
import { rows, type Row } from '../support/rows.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse } = await createTestDatabase();

/** [name, type, not null] of every column, in order. */
type ColumnSeen = [string, string, boolean];

describe('the live schema matches the descriptors:', () => {
  test.each(resources)('finance.$name', async (resource) => {
    // Sorted, because their order is that of the migrations.
    expect((await columnsOf(`finance.${resource.name}`)).sort()).toEqual(
      [
        ['connection_id', 'text', true],
        ...resource.columns.map((column): ColumnSeen => [column.name, typeOf(column), column.name === 'id']),
        ['_run_id', 'text', true],
        ['_first_seen_at', 'timestamp with time zone', true],
        ['_changed_at', 'timestamp with time zone', true],
        ['_content_hash', 'bytea', true],
      ].sort(),
    );
    expect(await keyOf(`finance.${resource.name}`)).toEqual(['connection_id', 'id']);
    expect(await commentOf(`finance.${resource.name}`)).toBe(resource.comment);
    expect(await columnCommentsOf(`finance.${resource.name}`)).toMatchObject(commentsOf(resource.columns));
  });

  const children = resources.flatMap((resource) =>
    resource.children.map((child) => ({ ...child, of: resource.name })),
  );
  test.each(children)('finance.$table', async (child) => {
    expect((await columnsOf(`finance.${child.table}`)).sort()).toEqual(
      [
        ['connection_id', 'text', true],
        [child.parentKey, 'text', true],
        ['position', 'integer', true],
        ...child.columns.map((column): ColumnSeen => [column.name, typeOf(column), false]),
      ].sort(),
    );
    expect(await keyOf(`finance.${child.table}`)).toEqual(['connection_id', child.parentKey, 'position']);
    expect(await commentOf(`finance.${child.table}`)).toBe(child.comment);
    expect(await columnCommentsOf(`finance.${child.table}`)).toMatchObject({
      [child.parentKey]: `id of the row in finance.${child.of}`,
      ...commentsOf(child.columns),
    });
  });

  test('finance has no other tables', async () => {
    const described = resources.flatMap(({ name, children: lists }) => [
      name,
      ...lists.map(({ table }) => table),
    ]);
    const live = await rows(
      warehouse,
      `select table_name as name from information_schema.tables
       where table_schema = 'finance' and table_type = 'BASE TABLE'`,
    );
    expect(live.map(({ name }) => name).sort()).toEqual(described.sort());
  });

  test('finance.connections shows the freshness of every resource, from all of its streams', async () => {
    const columns = (await columnsOf('finance.connections')).map(([name]) => name);
    const expected = resources.flatMap(({ name }) => [`${name}_last_success_at`, `${name}_freshness`]);
    expect(columns).toEqual(['connection_id', 'name', 'platform', 'org_id', ...expected]);
    const [view] = await rows(warehouse, `select pg_get_viewdef('finance.connections'::regclass) as sql`);
    for (const { stream, resource } of streams) {
      expect(String(view?.sql)).toContain(`('${stream.name}'::text,'${resource.name}'::text)`);
    }
  });
});

test('money, rates, and quantities are numeric without scale', async () => {
  const limited = await rows(
    warehouse,
    `select table_name, column_name from information_schema.columns
     where table_schema = 'finance' and (data_type in ('real', 'double precision', 'money') or numeric_scale > 0)`,
  );
  expect(limited).toEqual([]);
});

test('every table and column of finance, history, and sync has a SQL comment', async () => {
  const bare = await rows(
    warehouse,
    `select c.oid::regclass::text as relation, a.attname as "column"
     from pg_class c
     cross join lateral (
       select null as attname, obj_description(c.oid, 'pg_class') as comment
       union all
       select attname, col_description(c.oid, attnum) from pg_attribute
       where attrelid = c.oid and attnum > 0 and not attisdropped
     ) a
     where c.relnamespace in ('finance'::regnamespace, 'history'::regnamespace, 'sync'::regnamespace)
       and c.relkind in ('r', 'p', 'v', 'm') and a.comment is null
     order by 1, 2`,
  );
  expect(bare).toEqual([]);
});

test('every table of finance, history, and sync has a primary key', async () => {
  const keyless = await rows(
    warehouse,
    `select c.oid::regclass::text as "table" from pg_class c
     where c.relnamespace in ('finance'::regnamespace, 'history'::regnamespace, 'sync'::regnamespace)
       and c.relkind in ('r', 'p')
       and not exists (select from pg_constraint where conrelid = c.oid and contype = 'p')`,
  );
  expect(keyless).toEqual([]);
});

test('every key of a record table starts with connection_id', async () => {
  const keys = await rows(
    warehouse,
    `select conrelid::regclass::text as "table", (select attname from pg_attribute where attrelid = conrelid and attnum = conkey[1]) as first
     from pg_constraint
     where contype = 'p' and connamespace in ('finance'::regnamespace, 'history'::regnamespace)`,
  );
  expect(keys.length).toBeGreaterThan(15);
  expect(keys.filter(({ first }) => first !== 'connection_id')).toEqual([]);
});

const connections: Record<keyof Database['sync.connections'], true> = {
  connection_id: true,
  api_address: true,
  token_sealed: true,
  service_connection_id: true,
  org_id: true,
  platform: true,
  expand_platform_data: true,
  created_at: true,
  sync_every: true,
  reconcile_every: true,
  backfill_every: true,
  backfill_last: true,
  paused_at: true,
  paused_why: true,
  paused_by: true,
  pause_reached_schedules: true,
  failures: true,
  failed_run_id: true,
  webhooks_after: true,
  refused_token: true,
  schedules_settled: true,
  schedules_checked_at: true,
  ticks_missed: true,
  ticks_missed_at: true,
  sync_stretch: true,
};

/** Type-checked against the table types: a column added there and missing here does not compile. */
const typed: { [Table in keyof Database]: Record<keyof Database[Table], true> } = {
  'sync.settings': { name: true, value: true },
  'sync.connections': connections,
  'sync.all_connections': {
    ...connections,
    removing_at: true,
    removing_keeps_data: true,
    removing_found_no_data: true,
  },
  'sync.kept_data': {
    connection_id: true,
    api_address: true,
    service_connection_id: true,
    org_id: true,
    platform: true,
    removed_at: true,
  },
  'sync.streams': {
    connection_id: true,
    stream: true,
    resource: true,
    capability: true,
    capability_checked_at: true,
    watermark: true,
    cursor: true,
    last_success_at: true,
    last_reconcile_at: true,
    reconcile_wanted_at: true,
    reconcile_not_before: true,
    ahead_version: true,
    ahead_record_id: true,
    ahead_noted_at: true,
    service_time: true,
    service_time_noted_at: true,
    stalled_at: true,
    listed_at: true,
    missing_since: true,
    missing_at: true,
  },
  'sync.passes': {
    connection_id: true,
    stream: true,
    kind: true,
    run_id: true,
    lease: true,
    floor: true,
    cursor: true,
    highest_seen: true,
    pages: true,
    restarts: true,
    failing_since: true,
    ...{
      started_at: true,
      part: true,
      ceiling: true,
      listing: true,
      completed_at: true,
      served_from: true,
      served_until: true,
      stood_still_in: true,
      cursor_mark: true,
      read_up_to: true,
      out_of_order: true,
      empty_pages: true,
      asked_at: true,
      answered_from: true,
      answered_at: true,
      answered_before: true,
      stood_still_seconds: true,
      begun_again: true,
    },
  },
  'sync.runs': {
    run_id: true,
    connection_id: true,
    kind: true,
    status: true,
    workflow_id: true,
    temporal_run_id: true,
    reason: true,
    failure: true,
    started_at: true,
    finished_at: true,
    outcome: true,
    target: true,
    proved_token: true,
    beat_at: true,
    timeline: true,
  },
  'sync.run_streams': {
    run_id: true,
    connection_id: true,
    stream: true,
    status: true,
    pages: true,
    requests: true,
    read: true,
    inserted: true,
    updated: true,
    unchanged: true,
    deleted: true,
    suppressed: true,
    quarantined: true,
    unannounced: true,
    watermark_before: true,
    watermark_after: true,
    totals: true,
    failure_type: true,
    failure: true,
    started_at: true,
    finished_at: true,
  },
  'sync.quarantine': {
    id: true,
    connection_id: true,
    resource: true,
    stream: true,
    record_id: true,
    entry_key: true,
    reason: true,
    payload: true,
    status: true,
    run_id: true,
    first_seen_at: true,
    last_seen_at: true,
    closed_at: true,
    closed_why: true,
    discarded_content: true,
    content: true,
    version_us: true,
  },
  'sync.discrepancies': {
    id: true,
    connection_id: true,
    resource: true,
    record_id: true,
    kind: true,
    status: true,
    version: true,
    run_id: true,
    found_at: true,
    closed_at: true,
    closed_why: true,
    gone_by: true,
    shown_version: true,
    shown_hash: true,
    shown_by: true,
    shown_at: true,
    failing_since: true,
    met_at: true,
  },
  'sync.webhook_inbox': {
    id: true,
    digest: true,
    service_connection_id: true,
    connection_id: true,
    type: true,
    code: true,
    resource: true,
    record_id: true,
    version: true,
    payload: true,
    status: true,
    outcome: true,
    deliveries: true,
    tries: true,
    try_after: true,
    run_id: true,
    received_at: true,
    last_received_at: true,
    closed_at: true,
  },
  'sync.alerts': {
    id: true,
    kind: true,
    connection_id: true,
    message: true,
    remedy: true,
    opened_at: true,
    resolved_at: true,
    open_sent_at: true,
    resolved_sent_at: true,
    tries: true,
    try_after: true,
  },
  'sync.snapshots': {
    snapshot_id: true,
    run_id: true,
    lake: true,
    taken_at: true,
    published_at: true,
    rows: true,
    bytes: true,
    unfit: true,
    manifest_sha256: true,
    mark: true,
    removed_at: true,
    parts: true,
    parts_added: true,
    bytes_added: true,
  },
  'sync.namespace_claims': {
    claim_id: true,
    token: true,
    next_token: true,
    generation: true,
    claimed_at: true,
  },
  'sync.hosts': { host_id: true, name: true, seen_at: true, clear_since: true },
  'sync.readers': {
    reader: true,
    login: true,
    database_name: true,
    created_at: true,
    password_set_at: true,
  },
  'sync.reader_connections': { reader: true, connection_id: true },
  'sync.marts': {
    target: true,
    run_id: true,
    as_of_date: true,
    snapshot_id: true,
    marts: true,
    begun_at: true,
    built_at: true,
  },
};

test.each(Object.keys(typed) as (keyof Database)[])(
  'the table type of %s has the columns of the table',
  async (table) => {
    const columns = (await columnsOf(table)).map(([name]) => name);
    expect(columns.sort()).toEqual(Object.keys(typed[table]).sort());
  },
);

function typeOf({ kind }: Column): string {
  const { postgres } = columnKinds[kind];
  return postgres === 'timestamptz' ? 'timestamp with time zone' : postgres;
}

function commentsOf(columns: readonly Column[]): Record<string, string> {
  return Object.fromEntries(columns.map(({ name, comment }) => [name, comment]));
}

async function columnsOf(table: string): Promise<ColumnSeen[]> {
  const columns = await rows(
    warehouse,
    `select attname as name, format_type(atttypid, atttypmod) as type, attnotnull as required
     from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped order by attnum`,
    [table],
  );
  return columns.map(({ name, type, required }) => [String(name), String(type), required === true]);
}

async function keyOf(table: string): Promise<unknown[]> {
  const columns = await rows(
    warehouse,
    `select attname as name from pg_constraint
     cross join unnest(conkey) with ordinality as key (attnum, place)
     join pg_attribute a on a.attrelid = conrelid and a.attnum = key.attnum
     where conrelid = $1::regclass and contype = 'p' order by place`,
    [table],
  );
  return columns.map(({ name }) => name);
}

async function commentOf(table: string): Promise<unknown> {
  const [found] = await rows(warehouse, `select obj_description($1::regclass, 'pg_class') as comment`, [
    table,
  ]);
  return found?.comment;
}

async function columnCommentsOf(table: string): Promise<Row> {
  const comments = await rows(
    warehouse,
    `select attname as name, col_description(attrelid, attnum) as comment
     from pg_attribute where attrelid = $1::regclass and attnum > 0`,
    [table],
  );
  return Object.fromEntries(comments.map(({ name, comment }) => [String(name), comment]));
}
