import { sql, type Kysely } from 'kysely';

/** What keeps a copy current: schedules, windows of backfills, listings of reconciles, what they found. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(upkeep).execute(db);
}

const upkeep = `
  alter table sync.connections
    add column sync_every interval,
    add column reconcile_every interval,
    add column backfill_every interval,
    add column backfill_last interval,
    add column paused_at timestamptz,
    add column paused_why text,
    add column paused_by text check (paused_by in ('person', 'daybook')),
    add column pause_reached_schedules boolean not null default false,
    add column failures integer not null default 0,
    add column failed_run_id text;
  comment on column sync.connections.sync_every is 'How often the connection is synced; null: only when somebody asks';
  comment on column sync.connections.reconcile_every is 'How often it is reconciled; null: only when somebody asks';
  comment on column sync.connections.backfill_every is 'How often it is backfilled; null: only when somebody asks';
  comment on column sync.connections.backfill_last is 'How far back a scheduled backfill reads';
  comment on column sync.connections.paused_at is 'Since when its schedules are paused; null: they are not';
  comment on column sync.connections.paused_why is 'Why they are paused, and what to do';
  comment on column sync.connections.paused_by is
    'person: only a person resumes it; daybook: it paused itself, and resumes with the next sync that gets through';
  comment on column sync.connections.pause_reached_schedules is
    'Whether Temporal has been told of the pause: a schedule that fires after that was resumed there';
  comment on column sync.connections.failures is 'Syncs that failed since the last one that did not; they make the next ones rarer';
  comment on column sync.connections.failed_run_id is 'The last run counted as failed; no run counts twice';

  alter table sync.streams
    add column last_reconcile_at timestamptz,
    add column reconcile_wanted_at timestamptz,
    add column ahead_version timestamptz,
    add column ahead_record_id text,
    add column ahead_noted_at timestamptz,
    add column stalled_at timestamptz;
  comment on column sync.streams.last_reconcile_at is 'When a reconcile last proved the stream equal to the source, by the database clock';
  comment on column sync.streams.reconcile_wanted_at is 'Since when a reconcile is needed: a deletion was announced without saying of which record';
  comment on column sync.streams.ahead_version is 'Newest version met outside of syncs that is newer than the watermark was';
  comment on column sync.streams.ahead_record_id is 'Record of that version: a sync that still does not see it has stalled';
  comment on column sync.streams.stalled_at is 'When a sync last came to its end without that record; null when the last one did not';
  comment on column sync.streams.ahead_noted_at is 'When that version was met, by the database clock';

  -- What is over and old is found, and the newest finished run of each kind is known, without looking at the whole ledger.
  create index on sync.runs (finished_at) where finished_at is not null;
  create index on sync.runs (coalesce(connection_id, ''), kind, finished_at, run_id) where finished_at is not null;
  create index on sync.quarantine (closed_at) where closed_at is not null;
  create index on sync.quarantine (connection_id, resource, entry_key) where status = 'discarded';

  alter table sync.passes
    add column part text collate "C" not null default '',
    add column ceiling timestamptz,
    add column listing integer not null default 1,
    add column completed_at timestamptz;
  alter table sync.passes drop constraint passes_pkey, add primary key (connection_id, stream, kind, part);
  comment on column sync.passes.part is 'Window of a backfill; empty for other kinds';
  comment on column sync.passes.ceiling is 'Filter of the reading, inclusive; null reads to the end';
  comment on column sync.passes.listing is 'Of a reconcile: 1, or 2 when what was absent is looked for a second time';
  comment on column sync.passes.completed_at is 'When the last page was committed; such a row waits for the rest of its run';

  create table sync.listed_pages (
    connection_id text collate "C" not null,
    stream text collate "C" not null,
    listing integer not null,
    page bigint not null,
    records jsonb not null,
    primary key (connection_id, stream, listing, page),
    foreign key (connection_id, stream) references sync.streams on delete cascade
  );
  comment on table sync.listed_pages is 'What the open reconcile of a connection has been shown so far; emptied when it is over';
  comment on column sync.listed_pages.connection_id is 'Connection that is listed';
  comment on column sync.listed_pages.stream is 'Stream that is listed';
  comment on column sync.listed_pages.listing is 'First or second listing of the reconcile';
  comment on column sync.listed_pages.page is 'Number of the page';
  comment on column sync.listed_pages.records is 'Of each record its ID, version, currency and amounts';

  create table sync.discrepancies (
    id bigint generated always as identity primary key,
    connection_id text collate "C" not null references sync.connections on delete cascade,
    resource text collate "C" not null,
    record_id text collate "C" not null,
    kind text not null check (kind in ('missing', 'stale', 'damaged', 'extra')),
    status text not null check (status in ('checking', 'confirmed', 'repaired', 'dismissed')),
    version timestamptz,
    run_id text not null,
    found_at timestamptz not null default clock_timestamp(),
    closed_at timestamptz,
    closed_why text
  );
  create unique index on sync.discrepancies (connection_id, resource, record_id) where closed_at is null;
  create index on sync.discrepancies (connection_id, found_at desc);
  create index on sync.discrepancies (closed_at) where closed_at is not null;
  comment on table sync.discrepancies is 'Differences between the source and the warehouse that a reconcile found';
  comment on column sync.discrepancies.id is 'Number of the discrepancy';
  comment on column sync.discrepancies.connection_id is 'Connection of the record';
  comment on column sync.discrepancies.resource is 'Resource of the record';
  comment on column sync.discrepancies.record_id is 'Service ID of the record';
  comment on column sync.discrepancies.kind is
    'missing: the warehouse lacked it; stale: it held other content; damaged: its rows differed from the content it had landed; extra: the source no longer lists it';
  comment on column sync.discrepancies.status is
    'checking: absence to be confirmed; confirmed: absent, waits for approval; repaired: the warehouse is right again; dismissed: there was nothing to repair';
  comment on column sync.discrepancies.version is 'Version of the record that the warehouse held, in the service clock';
  comment on column sync.discrepancies.run_id is 'Reconcile that found it';
  comment on column sync.discrepancies.found_at is 'When it was found, by the database clock';
  comment on column sync.discrepancies.closed_at is 'When it was repaired or dismissed, by the database clock';
  comment on column sync.discrepancies.closed_why is 'How it was closed';
`;
