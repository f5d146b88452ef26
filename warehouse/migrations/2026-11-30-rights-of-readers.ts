import { sql, type Kysely } from 'kysely';

/** Who sees all connections has a right to them; up to now it was who was not restricted at the moment of the look-up. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(seenBy).execute(db);
}

/**
 * A statement that began as a reader of some connections may look up late what it sees: a cursor does at its first FETCH, when the reader
 * may be removed. An error rather than no rows: who had a right and lost it, or reads through somebody else's view, is told so.
 *
 * Names of relations and functions are looked up when it runs. Bound, they and this function would depend on one another.
 */
const seenBy = `
  create or replace function sync.connections_seen_by(who name) returns text[]
  language plpgsql stable parallel safe security definer set search_path = pg_catalog as $$
  begin
    if pg_has_role(who, (select nspowner from pg_namespace where nspname = 'sync'), 'usage') then
      return null;
    elsif pg_has_role(who, to_regrole('daybook_tenant'), 'usage') then
      return array(
        with recursive held as (
          select oid from pg_roles where rolname = who
          union
          select m.roleid from pg_auth_members m join held on m.member = held.oid
        )
        select distinct g.connection_id
        from held
        join pg_roles login on login.oid = held.oid
        join sync.readers r on r.login = login.rolname::text
        join sync.reader_connections g on g.reader = r.reader
        where pg_has_role(who, held.oid, 'usage')
      );
    elsif has_table_privilege(who, to_regclass('finance.connections'), 'select')
      or has_table_privilege(who, to_regclass('finance.deleted_records'), 'select')
      or has_function_privilege(who, to_regprocedure('history.as_of(text, timestamptz)'), 'execute')
      or has_function_privilege(who, to_regprocedure('history.as_of(text, timestamptz, text, text)'), 'execute')
      or has_function_privilege(who, to_regprocedure('history.changed_since(text, jsonb)'), 'execute')
    then
      return null;
    end if;
    raise insufficient_privilege using
      message = format('%s has no right to read finance. Its administrator may grant it daybook_reader.', who);
  end $$;
  comment on function sync.connections_seen_by(name) is
    'The connections that a member of daybook_tenant sees; null, which is all, for the owner and who was given finance or history otherwise; an error for everybody else';
`;
