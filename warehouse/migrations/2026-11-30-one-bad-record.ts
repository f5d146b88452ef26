import { sql, type Kysely } from 'kysely';

/** What is wrong with one record costs no other its own: an id too long for a key, and a fetch that keeps failing. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(statements).execute(db);
}

const statements = `
  comment on column sync.quarantine.entry_key is
    'What makes the entry one: the record ID, or its SHA-256 where it is too long for a key, else the hash of the content';

  alter table sync.discrepancies add column failing_since timestamptz;
  comment on column sync.discrepancies.failing_since is
    'Since when every fetch of this record failed in this run, though others were answered, by the database clock; null: none did';
`;
