import { sql, type Kysely } from 'kysely';

/** After an export Postgres gets a copy of the marts on the lake. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(comments).execute(db);
}

const comments = `
  comment on column sync.marts.snapshot_id is
    'The snapshot they were built on, or copied from into Postgres; null: built from the tables in Postgres';
  comment on column sync.marts.begun_at is
    'By the database clock: they show what was there then, or later. When their build began; of a copy in Postgres, when its snapshot was taken';
`;
