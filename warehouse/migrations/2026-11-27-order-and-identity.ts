import { sql, type Kysely } from 'kysely';

/** What order, identity and proof hang on when clocks and tokens are wrong. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(orderAndIdentity).execute(db);
}

const orderAndIdentity = `
  create table sync.resource_clocks (
    connection_id text collate "C" not null,
    resource text collate "C" not null,
    landed_at timestamptz not null,
    primary key (connection_id, resource)
  );
  comment on table sync.resource_clocks is
    'When a resource of a connection was last written to: each write is later than the one before, whatever the clock of the database does';
  comment on column sync.resource_clocks.connection_id is 'Connection, or one whose data was kept';
  comment on column sync.resource_clocks.resource is 'Resource, or events';
  comment on column sync.resource_clocks.landed_at is 'Time of the latest write: the clock of the database, or a microsecond after the write before';
  insert into sync.resource_clocks (connection_id, resource, landed_at)
    select connection_id, resource, max(recorded_at) from history.record_versions group by connection_id, resource;

  alter table sync.connections add column refused_token text;
  comment on column sync.connections.refused_token is
    'Mark of an access token that opens another company: nothing is asked with it any more; null: none is known';

  alter table sync.runs add column proved_token text;
  comment on column sync.runs.proved_token is
    'Mark of the access token to which the service has named the pinned company in this run; null: none yet';

  alter table sync.passes
    add column served_from timestamptz,
    add column served_until timestamptz,
    add column stood_still_in text;
  comment on column sync.passes.stood_still_in is
    'Run in which the pass stood still for longer than the lookback and began again; it does so once in a run';
  comment on column sync.passes.served_from is
    'Time of the service when the reading began, as its first response proves it: the watermark does not pass it';
  comment on column sync.passes.served_until is 'Time of the service at the latest page';

  alter table sync.tombstones add column noted_at timestamptz not null default '-infinity';
  alter table sync.tombstones alter column noted_at set default clock_timestamp();
  comment on column sync.tombstones.noted_at is 'When the deletion was written, in the order of sync.resource_clocks';

  alter table sync.discrepancies
    add column gone_by timestamptz,
    add column shown_version timestamptz,
    add column shown_hash bytea,
    add column shown_by text,
    drop constraint discrepancies_kind_check,
    add constraint discrepancies_kind_check
      check (kind in ('missing', 'stale', 'damaged', 'extra', 'ahead')) not valid;
  comment on column sync.discrepancies.kind is
    'missing: the warehouse lacked it; stale: it held other content; damaged: its rows differed from the content it had landed; extra: the source no longer lists it; ahead: the source lists it with other content, or alive, under an older version than the one held';
  comment on column sync.discrepancies.gone_by is 'Time of the service by which the record was gone; null: not confirmed';
  comment on column sync.discrepancies.shown_version is 'Of one that is ahead: the version that the listing showed';
  comment on column sync.discrepancies.shown_hash is 'Of one that is ahead: hash of the content that the listing showed';
  comment on column sync.discrepancies.shown_by is
    'Of one that is ahead and cannot be fetched: the complete reconcile that showed it; when the next one shows the same, it is repaired';
`;
