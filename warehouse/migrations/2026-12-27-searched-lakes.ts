import { sql, type Kysely } from 'kysely';

/** A warehouse may have published into several lakes, and an erasure searches one of them: each says for the others that it is done. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(statements).execute(db);
}

const statements = `
  alter table sync.tombstones add column erased_from text[] not null default '{}';
  comment on column sync.tombstones.erased_from is
    'Lakes that erasures of the record have searched, and whose snapshots hold it no more';
`;
