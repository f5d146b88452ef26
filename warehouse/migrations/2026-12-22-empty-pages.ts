import { sql, type Kysely } from 'kysely';

/** A list that never ends, by pages without records, is noticed. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(emptyPages).execute(db);
}

const emptyPages = `
  alter table sync.passes add column empty_pages integer not null default 0;
  comment on column sync.passes.empty_pages is 'How many pages without records came last, one after the other';
`;
