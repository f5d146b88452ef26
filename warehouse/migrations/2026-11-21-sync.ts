import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(syncTables).execute(db);
}

const syncTables = `
  create schema if not exists sync;
  comment on schema sync is 'Daybook: the state of every connection, stream and run';

  -- These two are made before the first migration, by what runs them.
  comment on table sync.migrations is 'Migrations that this database has had';
  comment on column sync.migrations.name is 'Name of the migration';
  comment on column sync.migrations.timestamp is 'When it ran, by the clock of the process that ran it';
  comment on table sync.migrations_lock is 'Lets one process migrate at a time';
  comment on column sync.migrations_lock.id is 'Name of the lock';
  comment on column sync.migrations_lock.is_locked is 'Not used in Postgres, where an advisory lock does the work';

  create table sync.settings (
    name text primary key,
    value text not null
  );
  comment on table sync.settings is 'Facts about this warehouse as a whole';
  comment on column sync.settings.name is 'Name of the fact, for example secret_key_fingerprint';
  comment on column sync.settings.value is 'Value of the fact; never a secret';

  create table sync.connections (
    connection_id text collate "C" primary key check (connection_id ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
    api_address text not null,
    token_sealed bytea not null,
    service_connection_id text,
    org_id text,
    platform text,
    expand_platform_data boolean not null default false,
    created_at timestamptz not null default now(),
    unique (api_address, service_connection_id)
  );
  comment on table sync.connections is 'Authorised links to accounting platforms, as they are meant to be';
  comment on column sync.connections.connection_id is 'Name the user picked';
  comment on column sync.connections.api_address is 'API address the connection was added under; sandbox for the embedded one';
  comment on column sync.connections.token_sealed is 'Access token, encrypted with DAYBOOK_SECRET_KEY';
  comment on column sync.connections.service_connection_id is 'ID of the connection at the service, pinned by the first response';
  comment on column sync.connections.org_id is 'Organisation at the service, pinned by the first response';
  comment on column sync.connections.platform is 'Platform code as the service last told it';
  comment on column sync.connections.expand_platform_data is 'Whether lists are asked for platform_data';
  comment on column sync.connections.created_at is 'When the connection was added';

  create table sync.streams (
    connection_id text collate "C" not null references sync.connections on delete cascade,
    stream text collate "C" not null,
    resource text not null,
    capability text not null default 'unknown' check (capability in ('unknown', 'supported', 'unsupported')),
    capability_checked_at timestamptz,
    watermark timestamptz,
    cursor text,
    last_success_at timestamptz,
    primary key (connection_id, stream)
  );
  comment on table sync.streams is 'What is known of each stream of a connection';
  comment on column sync.streams.connection_id is 'Connection of the stream';
  comment on column sync.streams.stream is 'Name of the stream';
  comment on column sync.streams.resource is 'Resource the stream belongs to';
  comment on column sync.streams.capability is 'Whether the service lists this resource for the platform: unknown, supported, unsupported';
  comment on column sync.streams.capability_checked_at is 'When the capability was last learned';
  comment on column sync.streams.watermark is 'Service-clock time up to which the stream is known complete';
  comment on column sync.streams.cursor is 'Where the open pass of a sync goes on; null when none is open';
  comment on column sync.streams.last_success_at is 'When a pass of a sync was last completed, by the database clock';

  create table sync.passes (
    connection_id text collate "C" not null,
    stream text collate "C" not null,
    kind text not null check (kind in ('sync', 'reconcile', 'backfill')),
    run_id text not null,
    lease text not null,
    floor timestamptz,
    cursor text,
    highest_seen timestamptz,
    pages bigint not null default 0,
    restarts integer not null default 0,
    failing_since timestamptz,
    started_at timestamptz not null default now(),
    primary key (connection_id, stream, kind),
    foreign key (connection_id, stream) references sync.streams on delete cascade
  );
  comment on table sync.passes is 'Readings of a stream that are not complete; each page is committed together with its row here';
  comment on column sync.passes.connection_id is 'Connection that is read';
  comment on column sync.passes.stream is 'Stream that is read';
  comment on column sync.passes.kind is 'sync, reconcile or backfill';
  comment on column sync.passes.run_id is 'Run that last worked on the pass';
  comment on column sync.passes.lease is 'The one attempt that may commit pages; whoever took it last holds it';
  comment on column sync.passes.floor is 'Filter of the reading, inclusive; null reads everything';
  comment on column sync.passes.cursor is 'Cursor of the next page; null before the first';
  comment on column sync.passes.highest_seen is 'Highest version seen, in the service clock';
  comment on column sync.passes.pages is 'Pages committed';
  comment on column sync.passes.restarts is 'How often a cursor was refused in the run that works on the pass';
  comment on column sync.passes.failing_since is 'Since when requests keep failing; null after a page';
  comment on column sync.passes.started_at is 'When the pass was opened';

  create table sync.runs (
    run_id text collate "C" primary key,
    connection_id text collate "C" references sync.connections on delete cascade,
    kind text not null,
    status text not null check (status in ('running', 'succeeded', 'partial', 'failed', 'cancelled', 'interrupted')),
    workflow_id text not null,
    temporal_run_id text not null,
    reason text not null,
    failure text,
    started_at timestamptz not null default now(),
    finished_at timestamptz
  );
  create index on sync.runs (connection_id, started_at desc);
  create index on sync.runs (connection_id, kind) where status = 'running';
  comment on table sync.runs is 'Executions of sync, backfill, reconcile and export';
  comment on column sync.runs.run_id is 'ID of the run: the Temporal run that began it';
  comment on column sync.runs.connection_id is 'Connection that was worked on';
  comment on column sync.runs.kind is 'sync, backfill, reconcile or export';
  comment on column sync.runs.status is 'running, succeeded, partial, failed, cancelled or interrupted; never better than the truth';
  comment on column sync.runs.workflow_id is 'Workflow in Temporal';
  comment on column sync.runs.temporal_run_id is 'Latest Temporal run of that workflow for this run';
  comment on column sync.runs.reason is 'Who or what asked for the run';
  comment on column sync.runs.failure is 'What failed and what to do, in a sentence';
  comment on column sync.runs.started_at is 'When the run began, by the database clock';
  comment on column sync.runs.finished_at is 'When the run ended, by the database clock';

  create table sync.run_streams (
    run_id text collate "C" not null references sync.runs on delete cascade,
    connection_id text collate "C" not null,
    stream text collate "C" not null,
    status text not null check (
      status in ('running', 'succeeded', 'partial', 'failed', 'cancelled', 'interrupted', 'unsupported')),
    pages bigint not null default 0,
    requests bigint not null default 0,
    read bigint not null default 0,
    inserted bigint not null default 0,
    updated bigint not null default 0,
    unchanged bigint not null default 0,
    deleted bigint not null default 0,
    suppressed bigint not null default 0,
    quarantined bigint not null default 0,
    watermark_before timestamptz,
    watermark_after timestamptz,
    totals jsonb,
    failure_type text,
    failure text,
    started_at timestamptz not null default now(),
    finished_at timestamptz,
    primary key (run_id, stream)
  );
  comment on table sync.run_streams is 'What a run did to each stream';
  comment on column sync.run_streams.run_id is 'Run';
  comment on column sync.run_streams.connection_id is 'Connection of the run';
  comment on column sync.run_streams.stream is 'Stream';
  comment on column sync.run_streams.status is 'running, succeeded, partial, failed, cancelled, interrupted or unsupported';
  comment on column sync.run_streams.pages is 'Pages committed';
  comment on column sync.run_streams.requests is 'Requests made to the API, failed ones included';
  comment on column sync.run_streams.read is 'Records read, repeated ones included';
  comment on column sync.run_streams.inserted is 'Records the warehouse did not hold';
  comment on column sync.run_streams.updated is 'Records whose content changed';
  comment on column sync.run_streams.unchanged is 'Records whose content was known, repeated ones included';
  comment on column sync.run_streams.deleted is 'Records deleted';
  comment on column sync.run_streams.suppressed is 'Records beaten by a tombstone or a newer version';
  comment on column sync.run_streams.quarantined is 'Records that could not be landed';
  comment on column sync.run_streams.watermark_before is 'Watermark before the run';
  comment on column sync.run_streams.watermark_after is 'Watermark after the run';
  comment on column sync.run_streams.totals is 'Counts and sums per currency, of a reconcile';
  comment on column sync.run_streams.failure_type is 'Type of the failure, as in Temporal';
  comment on column sync.run_streams.failure is 'What failed and what to do, in a sentence';
  comment on column sync.run_streams.started_at is 'When the run first worked on the stream';
  comment on column sync.run_streams.finished_at is 'When the stream was done in this run';

  create table sync.tombstones (
    connection_id text collate "C" not null references sync.connections on delete cascade,
    resource text collate "C" not null,
    record_id text collate "C" not null,
    version timestamptz not null,
    deleted_at timestamptz not null,
    source text not null check (source in ('event', 'webhook', 'reconcile')),
    payload jsonb,
    run_id text,
    primary key (connection_id, resource, record_id)
  );
  comment on table sync.tombstones is 'Durable proof that records were deleted; a row leaves when a newer version of its record arrives';
  comment on column sync.tombstones.connection_id is 'Connection of the record';
  comment on column sync.tombstones.resource is 'Resource of the record';
  comment on column sync.tombstones.record_id is 'Service ID of the record';
  comment on column sync.tombstones.version is 'Version of the deletion in the service clock: what is not newer stays deleted';
  comment on column sync.tombstones.deleted_at is 'When the record was deleted';
  comment on column sync.tombstones.source is 'How the deletion was learned: event, webhook or reconcile';
  comment on column sync.tombstones.payload is 'The record as last known';
  comment on column sync.tombstones.run_id is 'Run that learned of the deletion';

  create table sync.quarantine (
    id bigint generated always as identity primary key,
    connection_id text collate "C" not null references sync.connections on delete cascade,
    resource text collate "C" not null,
    stream text not null,
    record_id text collate "C",
    entry_key text collate "C" not null,
    reason text not null,
    payload text not null,
    status text not null default 'open' check (status in ('open', 'landed', 'discarded')),
    run_id text not null,
    first_seen_at timestamptz not null,
    last_seen_at timestamptz not null,
    closed_at timestamptz,
    closed_why text
  );
  create unique index on sync.quarantine (connection_id, resource, entry_key) where status = 'open';
  comment on table sync.quarantine is 'Records that could not be landed';
  comment on column sync.quarantine.id is 'Number of the entry';
  comment on column sync.quarantine.connection_id is 'Connection of the record';
  comment on column sync.quarantine.resource is 'Resource of the record';
  comment on column sync.quarantine.stream is 'Stream that brought the record';
  comment on column sync.quarantine.record_id is 'Service ID of the record, where it has a usable one';
  comment on column sync.quarantine.entry_key is 'What makes the entry one: the record ID, else the SHA-256 of the payload';
  comment on column sync.quarantine.reason is 'Why the record could not be landed';
  comment on column sync.quarantine.payload is 'The record as the API sent it, character by character';
  comment on column sync.quarantine.status is 'open, landed or discarded';
  comment on column sync.quarantine.run_id is 'Run that last met the record';
  comment on column sync.quarantine.first_seen_at is 'When the record was first met';
  comment on column sync.quarantine.last_seen_at is 'When the record was last met';
  comment on column sync.quarantine.closed_at is 'When the entry was closed';
  comment on column sync.quarantine.closed_why is 'Why the entry was closed';

  create table sync.field_issues (
    connection_id text collate "C" not null references sync.connections on delete cascade,
    resource text collate "C" not null,
    record_id text collate "C" not null,
    field text not null,
    value text not null,
    run_id text not null,
    seen_at timestamptz not null,
    primary key (connection_id, resource, record_id, field)
  );
  comment on table sync.field_issues is 'Decimal strings that are not numbers; their records landed with null in the field';
  comment on column sync.field_issues.connection_id is 'Connection of the record';
  comment on column sync.field_issues.resource is 'Resource of the record';
  comment on column sync.field_issues.record_id is 'Service ID of the record';
  comment on column sync.field_issues.field is 'Field in the record, for example bill_item.unit_price';
  comment on column sync.field_issues.value is 'The text the API sent';
  comment on column sync.field_issues.run_id is 'Run that landed the record';
  comment on column sync.field_issues.seen_at is 'When the record was landed';

  create table sync.api_budgets (
    budget text primary key,
    blocked_until timestamptz
  );
  comment on table sync.api_budgets is 'Request budgets shared by every worker of an organisation';
  comment on column sync.api_budgets.budget is 'Fingerprint of API address and client ID';
  comment on column sync.api_budgets.blocked_until is 'The service asked for silence until then';

  create table sync.api_grants (
    budget text not null,
    granted_at timestamptz not null
  );
  create index on sync.api_grants (budget, granted_at);
  comment on table sync.api_grants is 'Requests allowed lately; rows older than the window are deleted by the next request';
  comment on column sync.api_grants.budget is 'Budget the request was taken from';
  comment on column sync.api_grants.granted_at is 'When the request was allowed, by the database clock';

  create view finance.deleted_records as
    select connection_id, resource, record_id as id, deleted_at, source, payload
    from sync.tombstones;
  comment on view finance.deleted_records is 'Records that were deleted at the source, with their last known content';
  comment on column finance.deleted_records.connection_id is 'Connection of the record';
  comment on column finance.deleted_records.resource is 'Resource of the record: the name of its table in finance';
  comment on column finance.deleted_records.id is 'Service ID of the record';
  comment on column finance.deleted_records.deleted_at is 'When the record was deleted';
  comment on column finance.deleted_records.source is 'How the deletion was learned: event, webhook or reconcile';
  comment on column finance.deleted_records.payload is 'The record as last known';

  -- A resource that is read in two lists is as fresh as the older of them, and not at all while one was never read.
  create view finance.connections as
    with resource_success as (
      select
        c.connection_id,
        listed.resource,
        case when bool_and(s.last_success_at is not null or s.capability is not distinct from 'unsupported')
          then min(s.last_success_at) filter (where s.capability <> 'unsupported')
        end as last_success_at
      from sync.connections c
      cross join (
        values
          ('bills', 'bills'),
          ('expenses', 'expenses'),
          ('refunds', 'expenses'),
          ('bill_credit_memos', 'bill_credit_memos'),
          ('customers', 'customers'),
          ('items', 'items'),
          ('subscriptions', 'subscriptions')
      ) as listed (stream, resource)
      left join sync.streams s on s.connection_id = c.connection_id and s.stream = listed.stream
      group by c.connection_id, listed.resource
    )
    select
      c.connection_id,
      c.connection_id as name,
      c.platform,
      c.org_id,
      min(r.last_success_at) filter (where r.resource = 'bills') as bills_last_success_at,
      now() - min(r.last_success_at) filter (where r.resource = 'bills') as bills_freshness,
      min(r.last_success_at) filter (where r.resource = 'expenses') as expenses_last_success_at,
      now() - min(r.last_success_at) filter (where r.resource = 'expenses') as expenses_freshness,
      min(r.last_success_at) filter (where r.resource = 'bill_credit_memos') as bill_credit_memos_last_success_at,
      now() - min(r.last_success_at) filter (where r.resource = 'bill_credit_memos') as bill_credit_memos_freshness,
      min(r.last_success_at) filter (where r.resource = 'customers') as customers_last_success_at,
      now() - min(r.last_success_at) filter (where r.resource = 'customers') as customers_freshness,
      min(r.last_success_at) filter (where r.resource = 'items') as items_last_success_at,
      now() - min(r.last_success_at) filter (where r.resource = 'items') as items_freshness,
      min(r.last_success_at) filter (where r.resource = 'subscriptions') as subscriptions_last_success_at,
      now() - min(r.last_success_at) filter (where r.resource = 'subscriptions') as subscriptions_freshness
    from sync.connections c
    join resource_success r using (connection_id)
    group by c.connection_id;
  comment on view finance.connections is 'Connections and how fresh each of their resources is';
  comment on column finance.connections.connection_id is 'Connection';
  comment on column finance.connections.name is 'Name the user picked';
  comment on column finance.connections.platform is 'Platform code as the service last told it';
  comment on column finance.connections.org_id is 'Organisation at the service';
  comment on column finance.connections.bills_last_success_at is 'When bills were last read completely; null before the first time';
  comment on column finance.connections.bills_freshness is 'Time since bills were last read completely';
  comment on column finance.connections.expenses_last_success_at is 'When expenses were last read completely; null before the first time';
  comment on column finance.connections.expenses_freshness is 'Time since expenses were last read completely';
  comment on column finance.connections.bill_credit_memos_last_success_at is 'When bill_credit_memos were last read completely; null before the first time';
  comment on column finance.connections.bill_credit_memos_freshness is 'Time since bill_credit_memos were last read completely';
  comment on column finance.connections.customers_last_success_at is 'When customers were last read completely; null before the first time';
  comment on column finance.connections.customers_freshness is 'Time since customers were last read completely';
  comment on column finance.connections.items_last_success_at is 'When items were last read completely; null before the first time';
  comment on column finance.connections.items_freshness is 'Time since items were last read completely';
  comment on column finance.connections.subscriptions_last_success_at is 'When subscriptions were last read completely; null before the first time';
  comment on column finance.connections.subscriptions_freshness is 'Time since subscriptions were last read completely';
`;
