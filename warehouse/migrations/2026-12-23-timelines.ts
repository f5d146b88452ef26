import { sql, type Kysely } from 'kysely';

/** A run knows on which server it began, and on which timeline of it: a standby that is promoted begins another one. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(timelines).execute(db);
}

const timelines = `
  create function sync.timeline() returns text
  language plpgsql stable as $$
  begin
    return (select system_identifier from pg_control_system())
      || '/' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8);
  -- A service may keep these functions to itself, and a standby that is not promoted writes no WAL.
  exception when others then
    return null;
  end
  $$;
  comment on function sync.timeline() is
    'Which server this is, and which timeline of its WAL: another one after a failover or a restored backup. Null where it does not tell';
  revoke execute on function sync.timeline() from public;

  alter table sync.runs add column timeline text;
  comment on column sync.runs.timeline is
    'Server and timeline on which it began. Null: unknown, or begun by a release before 0.6';
`;
