import { sql, type Kysely } from 'kysely';

/** The service's clock beside ours, so that a sync notices when the service has put its clock back. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(statements).execute(db);
}

const statements = `
  alter table sync.streams add column service_time timestamptz, add column service_time_noted_at timestamptz;
  comment on column sync.streams.service_time is
    'The time that the service told with the newest page of a sync; null: it tells none, or was not asked yet';
  comment on column sync.streams.service_time_noted_at is
    'When that page was landed. Where the service''s time has advanced by less since, its clock was put back, and the next sync reads from further back';
`;
