import { sql, type Kysely } from 'kysely';

/**
 * Row-level security that names no role. A member of a role may `drop owned by` it: policies that name that role alone go, whoever owns the
 * table, while rights that somebody else granted stay, and until the end of the transaction the tables are locked.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(seesAll).execute(db);
  await sql.raw(shared).execute(db);
}

/**
 * Null, and not false: the planner takes `is not null` for nearly always true, as it is for those whose queries it has to plan well. Whoever has
 * lost the right reads no longer, in a cursor that began before either: then `connections_seen_by` says so.
 */
const seesAll = `
  create function sync.sees_all(who name, shown text) returns boolean
  language plpgsql stable parallel safe security definer set search_path = pg_catalog as $$
  begin
    if pg_has_role(who, (select nspowner from pg_namespace where nspname = 'sync'), 'usage') then
      return true;
    elsif pg_has_role(who, to_regrole('daybook_tenant'), 'usage') then
      return null;
    elsif has_any_column_privilege(who, to_regclass(shown), 'select') then
      return true;
    end if;
    return null;
  end $$;
  grant execute on function sync.sees_all(name, text) to public;
  comment on function sync.sees_all(name, text) is
    'True for who may read a table or view of ours and is no reader of some connections; null for everybody else';
`;

const shared = `
  create or replace function sync.share_table(shared regclass) returns void
  language plpgsql set search_path = pg_catalog as $$
  declare
    -- The tables of marts are read through views of the same names.
    shown text := (
      select format('%I.%I', case nspname when 'finance' then nspname else 'marts' end, relname)
      from pg_class c join pg_namespace n on n.oid = relnamespace where c.oid = shared
    );
    -- Names of roles bring the collation "C" along; without that of the column no index is used.
    rule text := format(
      '(select sync.sees_all(current_user, %L)) is not null '
      'or connection_id = any ((select sync.connections_seen_by(current_user) collate "default")::text[])',
      shown
    );
    there text := (select pg_get_expr(polqual, polrelid) from pg_policy where polrelid = shared and polname = 'everybody');
  begin
    if not (select relrowsecurity from pg_class where oid = shared) then
      execute format('alter table %s enable row level security', shared);
    end if;
    if there is null then
      execute format('create policy everybody on %s using (%s)', shared, rule);
    elsif there = 'true' then
      execute format('alter policy everybody on %s using (%s)', shared, rule);
    end if;
    -- Until 0.6.0 was released.
    if exists (select from pg_policy where polrelid = shared and polname = 'own_connections') then
      execute format('drop policy own_connections on %s', shared);
    end if;
  end $$;
  comment on function sync.share_table(regclass) is
    'Has a table show readers of some connections these alone, and all rows to everybody else who may read what it is shown as; done again it changes nothing';

  select sync.share_table(oid) from pg_class
  where relnamespace = 'finance'::regnamespace and relkind in ('r', 'p')
  order by relname;
  select sync.share_marts(value) from sync.settings
  where name = 'marts_schema' and exists (select from pg_policy where polname = 'own_connections');
`;
