import { sql, type Kysely } from 'kysely';

/** How much more rarely than set connections are synced, where the API budget is too small for all. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(statements).execute(db);
}

/** The view before its table, as whoever reads it takes them. */
const statements = `
  lock table finance.connections, sync.connections in access exclusive mode;
  alter table sync.all_connections add column sync_stretch float8 not null default 1 check (sync_stretch >= 1);
  do $$
  declare why constant text := 'How many times sync_every two syncs are apart, so that those of all connections fit the API budget; 1: they do as they are set';
  begin
    execute 'create or replace view sync.connections as '
      || regexp_replace(pg_get_viewdef('sync.connections'::regclass), '\\s+FROM ', ', sync_stretch FROM ');
    execute format('comment on column sync.all_connections.sync_stretch is %L', why);
    execute format('comment on column sync.connections.sync_stretch is %L', why);
  end $$;
`;
