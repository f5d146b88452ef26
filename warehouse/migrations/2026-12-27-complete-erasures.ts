import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(searchedLakes).execute(db);
  await sql.raw(everyHost).execute(db);
}

/** A warehouse may have published into several lakes, and an erasure searches one of them: each says for the others that it is done. */
const searchedLakes = `
  alter table sync.tombstones add column erased_from text[] not null default '{}';
  comment on column sync.tombstones.erased_from is
    'Lakes that erasures of the record have searched, and whose snapshots hold it no more';
`;

/** An export that was killed leaves as much behind as a build: every host is named. */
const everyHost = `
  alter table sync.hosts drop column built_at;
`;
