import { sql, type Kysely } from 'kysely';

/** What is known of snapshots beside what the lake itself says. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(lake).execute(db);
}

const lake = `
  create table sync.snapshots (
    snapshot_id text collate "C" primary key,
    run_id text collate "C" not null,
    lake text not null,
    taken_at timestamptz not null,
    published_at timestamptz not null default clock_timestamp(),
    rows bigint not null,
    bytes bigint not null,
    unfit bigint not null,
    manifest_sha256 text not null,
    mark text not null,
    removed_at timestamptz
  );
  create index on sync.snapshots (taken_at);
  comment on table sync.snapshots is 'Parquet snapshots that were published';
  comment on column sync.snapshots.snapshot_id is 'ID of the snapshot: the name of its folder';
  comment on column sync.snapshots.run_id is 'Run that made it';
  comment on column sync.snapshots.lake is 'Folder or bucket it was published in';
  comment on column sync.snapshots.taken_at is 'The moment whose rows it holds, by the database clock';
  comment on column sync.snapshots.published_at is 'When it was published, by the database clock';
  comment on column sync.snapshots.rows is 'Rows of all tables';
  comment on column sync.snapshots.bytes is 'Bytes of all Parquet files';
  comment on column sync.snapshots.unfit is 'Values that their Parquet type cannot hold: null in the files, listed in the manifest';
  comment on column sync.snapshots.manifest_sha256 is 'SHA-256 of its manifest';
  comment on column sync.snapshots.mark is 'Fingerprint of the tables: while it stays, the next export is skipped';
  comment on column sync.snapshots.removed_at is 'When retention removed it from the lake; null: it is there';

  alter table sync.runs add column outcome text;
  comment on column sync.runs.outcome is 'What came of it, in a sentence, where the counts of streams do not say it';
`;
