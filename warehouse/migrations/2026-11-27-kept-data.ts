import { sql, type Kysely } from 'kysely';

/** What is known of records that outlive their connection stays with them: whose they are, and which of them were deleted. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(keptData).execute(db);
}

const keptData = `
  create table sync.kept_data (
    connection_id text collate "C" primary key,
    api_address text not null,
    service_connection_id text,
    org_id text,
    platform text,
    removed_at timestamptz not null default clock_timestamp()
  );
  comment on table sync.kept_data is 'Whose the records are that connection remove --keep-data left; a row leaves when the name is added again, or the records are deleted';
  comment on column sync.kept_data.connection_id is 'Name of the connection that was removed';
  comment on column sync.kept_data.api_address is 'API address the connection was added under';
  comment on column sync.kept_data.service_connection_id is 'ID of the connection at the service; null: the service never told it';
  comment on column sync.kept_data.org_id is 'Organisation at the service; null: the service never told it';
  comment on column sync.kept_data.platform is 'Platform code as the service last told it';
  comment on column sync.kept_data.removed_at is 'When the connection was removed, by the database clock';

  -- They go with the records, not with the connection.
  alter table sync.tombstones drop constraint tombstones_connection_id_fkey;
  alter table sync.field_issues drop constraint field_issues_connection_id_fkey;
  alter table sync.quarantine drop constraint quarantine_connection_id_fkey;
`;
