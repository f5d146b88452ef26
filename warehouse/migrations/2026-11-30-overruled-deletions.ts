import { sql, type Kysely } from 'kysely';

/**
 * A deletion that a reconcile found to be wrong is announced again by each read of the events: it must not be believed again. Nor
 * must one that a newer version had beaten, once that version is found to be of a wrong clock.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(overruled).execute(db);
}

const overruled = `
  create table sync.overruled_deletions (
    connection_id text collate "C" not null,
    resource text collate "C" not null,
    record_id text collate "C" not null,
    versions timestamptz[] not null,
    until timestamptz not null,
    primary key (connection_id, resource, record_id)
  );
  comment on table sync.overruled_deletions is
    'Records that live under an older version than was held of them: the clock of the service was wrong, and was put right';
  comment on column sync.overruled_deletions.connection_id is 'Connection the record belongs to';
  comment on column sync.overruled_deletions.resource is 'Resource of the record: the name of its table in finance';
  comment on column sync.overruled_deletions.record_id is 'Service ID of the record';
  comment on column sync.overruled_deletions.versions is
    'Versions of deletions that are known to be overruled, in the service clock';
  comment on column sync.overruled_deletions.until is
    'Newest version that was overruled, of the record or of a deletion: of another deletion that is not newer a reconcile decides';
`;
