import { sql, type Kysely } from 'kysely';

/**
 * An export compared all field issues with those of the one before, value by value: a company with 32 million of them ended the exports of all.
 * Now landings count their changes, as they do those of tombstones.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(statements).execute(db);
}

/** Row by row, for landings look for some that are not there; there are few. */
const statements = `
  create trigger note_change after insert or update or delete on sync.field_issues
    for each row execute function sync.note_change('');
  alter table sync.field_issues enable always trigger note_change;
  create trigger note_emptied after truncate on sync.field_issues
    for each statement execute function sync.note_change('');
  alter table sync.field_issues enable always trigger note_emptied;

  comment on column sync.resource_clocks.changes is
    'Greater after each transaction that has changed rows of finance, tombstones, or field issues of the resource, of those that say whose they are (daybook.landing), by a step at random: equal numbers are of one past, over a failover and a restored backup too';
`;
