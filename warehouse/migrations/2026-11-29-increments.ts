import { sql, type Kysely } from 'kysely';

/** What changed since, for who copies records out of the warehouse. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(removals).execute(db);
  await sql.raw(changes).execute(db);
}

const removals = `
  create table sync.removals (
    name text collate "C" primary key,
    removed_at timestamptz not null
  );
  comment on table sync.removals is
    'Names whose records were deleted with their connection: who has copied them is told, whoever has the name since';
  comment on column sync.removals.name is 'Name of the connection';
  comment on column sync.removals.removed_at is
    'When the records were deleted last, in the order of sync.resource_clocks: later than every write before it, earlier than every one since';
`;

/**
 * A time per connection and resource, because within one the order of times is that of the commits (sync.resource_clocks): who has seen a time
 * has seen whatever is older. Of two connections, or two resources, the older time may be committed later.
 */
const changes = `
  create function sync.changes_since(resource text, since jsonb, seen text[])
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
      union all
      select f.connection_id, f.id, 'upsert', f._changed_at
      from wanted w
      cross join lateral (
        select f.connection_id, f.id, f._changed_at from %1$s f
        where f.connection_id = w.connection_id and f._changed_at > w.since
        offset 0
      ) f
    $query$, source, named) using since, seen, resource;
  end $$;
  grant execute on function sync.changes_since(text, jsonb, text[]) to public;
  comment on function sync.changes_since(text, jsonb, text[]) is
    'history.changed_since, of these connections; of all where there is null';

  create function history.changed_since(resource text, since jsonb default '{}')
  returns table (connection_id text, record_id text, op text, changed_at timestamptz)
  language sql stable
  begin atomic
    select change.connection_id, change.record_id, change.op, change.changed_at
    from sync.changes_since(changed_since.resource, changed_since.since, sync.connections_seen_by(current_user)) change;
  end;
  revoke execute on function history.changed_since(text, jsonb) from public;
  comment on function history.changed_since(text, jsonb) is
    'What happened to the records of a resource after a time for each connection, as {"connection": "time"}; of a connection without one, all records. op is upsert, delete, or clear: all that was copied of the connection is gone. Keep the latest changed_at of each connection for the next time';
`;
