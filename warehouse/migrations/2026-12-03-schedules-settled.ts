import { sql, type Kysely } from 'kysely';

/** What Temporal was last told of the schedules of a connection: only what differs is told again. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(statements).execute(db);
}

const statements = `
  alter table sync.connections
    add column schedules_settled text,
    add column schedules_checked_at timestamptz;
  comment on column sync.connections.schedules_settled is
    'SHA-256 of the schedules that Temporal was last told to have; null: not known';
  comment on column sync.connections.schedules_checked_at is
    'When Temporal was last asked for everything about these schedules';
`;
