import { sql, type Kysely } from 'kysely';

/** A copy that has read what a failover or a restored backup took back is told so, and copies the connection anew. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(changes).execute(db);
}

/**
 * As before, and of a connection whose time belongs to no change that is known here: all that was copied is gone, and all records. Times of a
 * connection and resource follow the order of the commits, so where the change of a time is, everything before it is too.
 */
const changes = `
  create or replace function sync.changes_since(resource text, since jsonb, seen text[])
  returns table (connection_id text, record_id text, op text, changed_at timestamptz)
  language plpgsql stable security definer set search_path = pg_catalog as $$
  declare
    source regclass := to_regclass(format('finance.%I', resource));
    named text := 'select unnest($2) collate "C" as connection_id';
  begin
    if not exists (select from pg_attribute where attrelid = source and attname = '_changed_at') then
      raise exception 'There is no resource %.', quote_nullable(resource) using errcode = 'invalid_parameter_value';
    end if;
    if jsonb_typeof(since) is distinct from 'object' then
      raise exception 'since takes an object with a time for each connection, and {} for all records.'
        using errcode = 'invalid_parameter_value';
    end if;
    if seen is null then
      -- One index look-up for each connection, however many rows it has; the last one is null.
      named := format(
        'select min(connection_id) as connection_id from %1$s union all '
        'select (select min(f.connection_id) from %1$s f where f.connection_id > named.connection_id) from named '
        'where connection_id is not null', source);
    end if;
    return query execute format($query$
      with recursive named as (%2$s),
      going as (
        select c.connection_id from sync.all_connections c where c.removing_at is not null and not c.removing_keeps_data
      ),
      known as (
        select key collate "C" as connection_id, value::timestamptz as since
        from jsonb_each_text($1)
        where $2 is null or key = any ($2)
      ),
      -- A time that an answer gave is that of a change, and is found again with it. Without offset 0 the planner may read whole tables.
      lost as (
        select k.connection_id from known k
        where k.since > '-infinity'
          and not exists (select from sync.removals r where r.name = k.connection_id and r.removed_at >= k.since offset 0)
          and not exists (
            select from %1$s f where f.connection_id = k.connection_id and f._changed_at = k.since offset 0
          )
          and not exists (
            select from sync.tombstones t
            where t.connection_id = k.connection_id and t.resource = $3 and t.noted_at = k.since offset 0
          )
          and not exists (
            select from history.record_versions v
            where v.connection_id = k.connection_id and v.resource = $3 and v.recorded_at = k.since offset 0
          )
      ),
      followed as (
        select * from known where connection_id not in (select connection_id from lost)
      ),
      wanted as (
        select connection_id, since from followed
        union all
        select connection_id, '-infinity' from lost
        union all
        select connection_id, '-infinity' from named
        where connection_id is not null and not $1 ? connection_id
      )
      select connection_id, null, 'clear', '-infinity' from lost
      union all
      select r.name, null, 'clear', r.removed_at
      from followed k join sync.removals r on r.name = k.connection_id and r.removed_at > k.since
      union all
      select t.connection_id, t.record_id, 'delete', t.noted_at
      from followed k
      cross join lateral (
        select * from sync.tombstones t
        where t.connection_id = k.connection_id and t.resource = $3 and t.noted_at > k.since
        offset 0
      ) t
      where not exists (select from going where going.connection_id = k.connection_id)
      union all
      select f.connection_id, f.id, 'upsert', f._changed_at
      from wanted w
      cross join lateral (
        select f.connection_id, f.id, f._changed_at from %1$s f
        where f.connection_id = w.connection_id and f._changed_at > w.since
        offset 0
      ) f
      where not exists (select from going where going.connection_id = w.connection_id)
    $query$, source, named) using since, seen, resource;
  end $$;
  comment on function history.changed_since(text, jsonb) is
    'What happened to the records of a resource after a time for each connection, as {"connection": "time"}, the latest changed_at of each that an earlier call returned; of a connection without one, all records. op is upsert, delete, or clear: all that was copied of the connection is gone. A time that no call of this past of the database has returned (after a failover or a restored backup) is answered by clear and all records. Keep the latest changed_at of each connection for the next time';
`;
