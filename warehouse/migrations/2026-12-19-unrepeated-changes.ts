import { sql, type Kysely } from 'kysely';

/**
 * A count of changes that a failover or a restore takes back came again after as many others, and an export took what it had weighed in the
 * lost past for what the tables hold. Now the number grows by another step each time. What was weighed before is weighed once more.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(statements).execute(db);
}

const statements = `
  comment on column sync.resource_clocks.changes is
    'Greater after each transaction that has changed rows of finance or tombstones of the resource, of those that say whose they are (daybook.landing), by a step at random: equal numbers are of one past, over a failover and a restored backup too';
  comment on column sync.table_weights.changes is
    'sync.resource_clocks.changes when the rows were weighed; -1 where nothing counts their changes';

  create or replace function sync.note_change() returns trigger
  language plpgsql security definer set search_path = pg_catalog as $$
  declare
    scope text := coalesce(current_setting('daybook.landing', true), '');
    resource_landing text := split_part(scope, '/', 1);
  begin
    if scope <> '' and tg_argv[0] in (resource_landing, '') then
      if current_setting('daybook.counted', true) = scope then
        return null;
      end if;
      -- 2 ^ 31 steps, so bigint has room for billions of them. Of gen_random_uuid, because random() can be seeded.
      update sync.resource_clocks
      set changes = changes + 1 + (('x' || left(gen_random_uuid()::text, 8))::bit(32)::bigint & 2147483647)
      where connection_id = split_part(scope, '/', 2) and resource = resource_landing;
      if found then
        perform set_config('daybook.counted', scope, true);
        return null;
      end if;
    end if;
    insert into sync.uncounted_changes (table_name, transaction_id)
    values (tg_table_schema || '.' || tg_table_name, pg_current_xact_id()::text::bigint)
    on conflict do nothing;
    return null;
  end $$;

  delete from sync.table_weights;
`;
