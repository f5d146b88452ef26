import { sql, type Kysely } from 'kysely';

/** A run that no workflow stands behind says that it is alive. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(beats).execute(db);
}

const beats = `
  alter table sync.runs add column beat_at timestamptz;
  comment on column sync.runs.beat_at is
    'When the process behind a run of a command last said that it is alive, by the database clock; null for runs of workflows';
`;
