import { sql, type Kysely } from 'kysely';

/** A list whose pages go round is found. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(statements).execute(db);
}

const statements = `
  alter table sync.passes add column cursor_mark text;
  comment on column sync.passes.cursor_mark is
    'A cursor that this reading had before: when a page names it again, the list goes round and would never end';
`;
