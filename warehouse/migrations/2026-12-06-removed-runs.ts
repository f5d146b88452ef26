import { sql, type Kysely } from 'kysely';

/** Work that was under way for a connection ends with it, and is not taken for work of the one that gets its name. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(statements).execute(db);
}

const statements = `
  create table sync.removed_runs (
    connection_id text collate "C" not null,
    run_id text not null,
    removed_at timestamptz not null default clock_timestamp(),
    primary key (connection_id, run_id)
  );
  comment on table sync.removed_runs is
    'Runs that a removed connection had open, or had ended lately: what still works on one is refused, whoever has the name by then';
  comment on column sync.removed_runs.connection_id is 'Name that the connection had';
  comment on column sync.removed_runs.run_id is 'Run of the connection';
  comment on column sync.removed_runs.removed_at is 'When the connection was removed, by the database clock';
  alter table sync.all_connections add column removing_found_no_data boolean not null default false;
  comment on column sync.all_connections.removing_found_no_data is
    'Of a removal: records were to stay, and there were none';
`;
