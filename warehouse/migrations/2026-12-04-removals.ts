import { sql, type Kysely } from 'kysely';

/** A connection that is being removed: its row stays until the last of what hangs on it is gone, and nobody sees it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(inTheOrderOfReaders).execute(db);
  await sql.raw(removing).execute(db);
  await sql.raw(seen).execute(db);
  await sql.raw(changes).execute(db);
}

/** The view before its tables, as whoever reads it takes them: the other way round each would wait for the other. */
const inTheOrderOfReaders = `lock table finance.connections in access exclusive mode`;

const removing = `
  alter table sync.connections rename to all_connections;
  alter table sync.all_connections
    add column removing_at timestamptz,
    add column removing_keeps_data boolean not null default false;
  comment on table sync.all_connections is
    'Authorised links to accounting platforms, and those that are being removed: sync.connections leaves these out';
  comment on column sync.all_connections.removing_at is
    'Since when the connection is being removed; null: it is not. Its row is the last to go, and keeps the name until then';
  comment on column sync.all_connections.removing_keeps_data is 'Of a removal: whether records, history and deletions stay';
`;

/**
 * A view in place of a condition in every statement: whoever works for a connection, workers of the release before too, finds that there is
 * none as soon as its removal has begun. Columns that other migrations have added are in it.
 */
const seen = `
  do $$
  declare one record; columns text;
  begin
    select string_agg(quote_ident(attname), ', ' order by attnum) into columns
    from pg_attribute
    where attrelid = 'sync.all_connections'::regclass and attnum > 0 and not attisdropped
      and attname not in ('removing_at', 'removing_keeps_data');
    execute format(
      'create view sync.connections as select %s from sync.all_connections where removing_at is null', columns);
    for one in
      select attname, col_description(attrelid, attnum) as comment
      from pg_attribute
      where attrelid = 'sync.all_connections'::regclass and attnum > 0 and not attisdropped
        and attname not in ('removing_at', 'removing_keeps_data')
    loop
      execute format('comment on column sync.connections.%I is %L', one.attname, one.comment);
    end loop;
    execute 'create or replace view finance.connections with (security_barrier = true) as '
      || replace(pg_get_viewdef('finance.connections'::regclass), 'sync.all_connections', 'sync.connections');
  end $$;
  comment on view sync.connections is 'Authorised links to accounting platforms, as they are meant to be';
`;

/** As before, without the records and deletions of a connection that is being removed: of those it is told that all is gone. */
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
      wanted as (
        select connection_id, since from known
        union all
        select connection_id, '-infinity' from named
        where connection_id is not null and not $1 ? connection_id
      )
      select r.name, null, 'clear', r.removed_at
      from known k join sync.removals r on r.name = k.connection_id and r.removed_at > k.since
      union all
      select t.connection_id, t.record_id, 'delete', t.noted_at
      from known k
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
`;
