import { sql, type Kysely } from 'kysely';

/** Builds of marts are runs too, and what readers see of them is known. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(martBuilds).execute(db);
}

const martBuilds = `
  alter table sync.runs add column target text check (target in ('postgres', 'lake'));
  comment on column sync.runs.target is 'Of a build of marts, where they are built: postgres or lake; null: no such run';
  comment on column sync.runs.kind is 'sync, backfill, reconcile, replay, rebuild, webhook, export or marts';
  comment on column sync.runs.connection_id is 'Connection that was worked on; null: all of them';

  create index on sync.runs (kind, target, started_at desc) where connection_id is null;

  alter table sync.runs drop constraint runs_status_check;
  alter table sync.runs add constraint runs_status_check
    check (status in ('running', 'succeeded', 'partial', 'failed', 'cancelled', 'interrupted', 'unsupported'));
  comment on column sync.runs.status is
    'running, succeeded, partial, failed, cancelled, interrupted, or unsupported: nothing to work with; never better than the truth';

  comment on column sync.alerts.kind is
    'What is wrong: failed, paused, stale, stalled, approval, quarantine, webhooks, export, marts';

  create table sync.marts (
    target text primary key check (target in ('postgres', 'lake')),
    run_id text collate "C" not null,
    as_of_date date not null,
    snapshot_id text collate "C",
    marts integer not null,
    begun_at timestamptz not null,
    built_at timestamptz not null default clock_timestamp()
  );
  comment on table sync.marts is 'The marts that readers see: of each target the last good build';
  comment on column sync.marts.target is 'Where they are: postgres or lake';
  comment on column sync.marts.run_id is 'Run that built them';
  comment on column sync.marts.as_of_date is 'The day they speak of, in DAYBOOK_REPORTING_TIMEZONE';
  comment on column sync.marts.snapshot_id is 'On the lake: the snapshot they were built on';
  comment on column sync.marts.marts is 'How many there are';
  comment on column sync.marts.begun_at is 'When their build began, by the database clock: they show what was there then, or later';
  comment on column sync.marts.built_at is 'Since when readers see them, by the database clock';
`;
