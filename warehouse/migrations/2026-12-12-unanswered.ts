import { sql, type Kysely } from 'kysely';

/** A reconcile that could not decide is repeated, and not at once; a list that ignores the order that it was asked for is noticed. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(statements).execute(db);
}

const statements = `
  alter table sync.streams add column reconcile_not_before timestamptz;
  comment on column sync.streams.reconcile_not_before is
    'When the reconcile that is needed is repeated, for the last one could not decide about every record; null: at once';

  alter table sync.passes
    add column read_up_to timestamptz,
    add column out_of_order boolean not null default false;
  comment on column sync.passes.read_up_to is
    'Highest version seen since the reading began at its first page, in the service clock';
  comment on column sync.passes.out_of_order is
    'Whether a page showed an older version behind a newer one: the list is then complete only at its last page';
`;
