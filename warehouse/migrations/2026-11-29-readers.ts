import { sql, type Kysely } from 'kysely';

/** Readers of some connections: who sees which, and the rows of everything that readers see held to that. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(readers).execute(db);
  await sql.raw(seenBy).execute(db);
  await sql.raw(shared).execute(db);
  await sql.raw(views).execute(db);
  await sql.raw(asOf).execute(db);
}

const readers = `
  create table sync.readers (
    reader text collate "C" primary key,
    login text collate "C" not null unique,
    database_name text not null,
    created_at timestamptz not null default clock_timestamp(),
    password_set_at timestamptz not null default clock_timestamp()
  );
  comment on table sync.readers is 'Logins that see some connections only; a row of each that daybook reader add has made';
  comment on column sync.readers.reader is 'Name that the user picked';
  comment on column sync.readers.login is
    'Role of Postgres; it does not tell the name, because everybody who may log in can read the names of roles';
  comment on column sync.readers.database_name is
    'Database that the login was made for; in a copy of it, which has another name, another login is made';
  comment on column sync.readers.created_at is 'When the reader was added, by the database clock';
  comment on column sync.readers.password_set_at is 'When the password was made, by the database clock; it is kept nowhere';

  create table sync.reader_connections (
    reader text collate "C" not null references sync.readers on delete cascade,
    connection_id text collate "C" not null,
    primary key (reader, connection_id)
  );
  create index on sync.reader_connections (connection_id);
  comment on table sync.reader_connections is
    'Which connections a reader sees; a row leaves with the connection, unless its records are kept';
  comment on column sync.reader_connections.reader is 'Reader';
  comment on column sync.reader_connections.connection_id is 'Connection, or one whose records were kept';

  create function sync.forget_readers() returns trigger
  language plpgsql set search_path = pg_catalog as $$
  begin
    delete from sync.reader_connections g
    where g.connection_id = old.connection_id
      and not exists (select from sync.connections c where c.connection_id = old.connection_id)
      and not exists (select from sync.kept_data k where k.connection_id = old.connection_id);
    return null;
  end $$;
  comment on function sync.forget_readers() is
    'At the end of a transaction: of a name without connection and without kept records, nobody sees anything, whoever has it next';
  -- Here, and not in the code that removes: that of the release before removes connections too.
  create constraint trigger forget_readers after delete on sync.connections
    deferrable initially deferred for each row execute function sync.forget_readers();
  create constraint trigger forget_readers after delete on sync.kept_data
    deferrable initially deferred for each row execute function sync.forget_readers();
`;

/**
 * Functions of `sync` are everybody's to run and nobody's to name: readers have no USAGE on the schema, and policies, views and bodies that
 * were bound when they were made need none. The roles are those of the moment of the query, so `set role` works as with any other right.
 */
const seenBy = `
  create function sync.connections_seen_by(who name) returns text[]
  language sql stable parallel safe security definer set search_path = pg_catalog
  begin atomic
    select case
      when coalesce(pg_has_role(who, to_regrole('daybook_tenant'), 'usage'), false)
        and not pg_has_role(who, (select nspowner from pg_namespace where nspname = 'sync'), 'usage')
      then array(
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
      )
    end;
  end;
  grant execute on function sync.connections_seen_by(name) to public;
  comment on function sync.connections_seen_by(name) is
    'The connections that a member of daybook_tenant sees; null for everybody else, who sees all';
`;

/**
 * Row level security: what members of daybook_tenant see is restricted, and nobody else is. They have no right to a table but as members, so
 * there is no right without the restriction. Owners and superusers pass.
 */
const shared = `
  create function sync.share_table(shared regclass) returns void
  language plpgsql set search_path = pg_catalog as $$
  begin
    if not (select relrowsecurity from pg_class where oid = shared) then
      execute format('alter table %s enable row level security', shared);
    end if;
    if not exists (select from pg_policy where polrelid = shared and polname = 'everybody') then
      execute format('create policy everybody on %s using (true)', shared);
    end if;
    if to_regrole('daybook_tenant') is not null
      and not exists (select from pg_policy where polrelid = shared and polname = 'own_connections')
    then
      execute format(
        'create policy own_connections on %s as restrictive to daybook_tenant '
        -- Names of roles bring the collation "C" along; without that of the column its index is not used.
        'using (connection_id = any ((select sync.connections_seen_by(current_user) collate "default")::text[]))',
        shared
      );
    end if;
  end $$;
  comment on function sync.share_table(regclass) is
    'Has a table show readers of some connections these alone; done again it changes nothing';

  create function sync.share_marts(built text) returns void
  language plpgsql set search_path = pg_catalog as $$
  declare mart record;
  begin
    for mart in
      select
        t.oid::regclass as built_table, v.oid::regclass as view,
        coalesce('security_invoker=true' = any (v.reloptions), false) as is_checked,
        exists (
          select from pg_attribute where attrelid = t.oid and attname = 'connection_id' and not attisdropped
        ) as has_connections
      from pg_class t
      join pg_class v on v.relname = t.relname and v.relnamespace = 'marts'::regnamespace and v.relkind = 'v'
      where t.relnamespace = to_regnamespace(quote_ident(built)) and t.relkind = 'r'
      order by t.relname
    loop
      if mart.has_connections then perform sync.share_table(mart.built_table); end if;
      -- The schema is nobody's to name: who may read the view may read the table behind it.
      execute format('grant select on %s to public', mart.built_table);
      if not mart.is_checked then execute format('alter view %s set (security_invoker = true)', mart.view); end if;
      if to_regrole('daybook_tenant') is not null then
        execute format('grant select on %s to daybook_tenant', mart.view);
      end if;
    end loop;
  end $$;
  comment on function sync.share_marts(text) is
    'Has the marts of a schema that was published show readers of some connections these alone; done again it changes nothing';

  create function sync.share_published_marts() returns trigger
  language plpgsql set search_path = pg_catalog as $$
  begin
    perform sync.share_marts(new.value);
    return null;
  end $$;
  comment on function sync.share_published_marts() is
    'With every publication of marts, in its transaction; the release before publishes too';
  create trigger share_published_marts after insert or update on sync.settings
    for each row when (new.name = 'marts_schema') execute function sync.share_published_marts();

  create function sync.share_with_tenants() returns boolean
  language plpgsql set search_path = pg_catalog as $$
  declare shared regclass;
  begin
    if to_regrole('daybook_tenant') is null then
      begin
        create role daybook_tenant nologin;
      -- Not allowed, or just made for another database of the server.
      exception when insufficient_privilege or duplicate_object or unique_violation then null;
      end;
    end if;
    for shared in select oid from pg_class where relnamespace = 'finance'::regnamespace and relkind in ('r', 'p') loop
      perform sync.share_table(shared);
      if to_regrole('daybook_tenant') is not null then
        execute format('grant select on %s to daybook_tenant', shared);
      end if;
    end loop;
    if to_regrole('daybook_tenant') is null then return false; end if;
    grant usage on schema finance, history, marts to daybook_tenant;
    grant select on finance.connections, finance.deleted_records to daybook_tenant;
    grant execute on all functions in schema history to daybook_tenant;
    if exists (select from sync.readers) then
      perform sync.share_marts(value) from sync.settings where name = 'marts_schema';
    end if;
    return true;
  end $$;
  comment on function sync.share_with_tenants() is
    'Opens finance and history to readers of some connections, as far as these go, and the published marts once there is one; says whether there is the role of such readers. Done again it changes nothing';

  -- Marts follow with their next publication, or with the first reader.
  select sync.share_table(oid) from pg_class
  where relnamespace = 'finance'::regnamespace and relkind in ('r', 'p')
  order by relname;
`;

/** The tables behind the views are closed to readers, so the views say themselves who sees what. */
const views = `
  create view sync.tombstones_seen with (security_barrier = true) as
    select connection_id, resource, record_id, deleted_at, source, payload
    from sync.tombstones
    where connection_id = any ((select sync.connections_seen_by(current_user) collate "default")::text[]);
  comment on view sync.tombstones_seen is 'Tombstones of the connections that who asks sees, where these are not all';
  comment on column sync.tombstones_seen.connection_id is 'Connection of the record';
  comment on column sync.tombstones_seen.resource is 'Resource of the record';
  comment on column sync.tombstones_seen.record_id is 'Service ID of the record';
  comment on column sync.tombstones_seen.deleted_at is 'When the record was deleted';
  comment on column sync.tombstones_seen.source is 'How the deletion was learned: event, webhook or reconcile';
  comment on column sync.tombstones_seen.payload is 'The record as last known';

  -- Of the two halves one is never run; with "or" no index could be used. Postgres does not hold "union all" to security_barrier, so
  -- the half that filters is a view of its own, which is one.
  create or replace view finance.deleted_records with (security_barrier = true) as
    select connection_id, resource, record_id as id, deleted_at, source, payload
    from sync.tombstones
    where (select sync.connections_seen_by(current_user)) is null
    union all
    select connection_id, resource, record_id as id, deleted_at, source, payload
    from sync.tombstones_seen;

  create or replace view finance.connections with (security_barrier = true) as
    with visible as (
      select c.connection_id, c.platform, c.org_id from sync.connections c
      where (select sync.connections_seen_by(current_user)) is null
        or c.connection_id = any ((select sync.connections_seen_by(current_user) collate "default")::text[])
    ),
    resource_success as (
      select
        c.connection_id,
        listed.resource,
        case when bool_and(s.last_success_at is not null or s.capability is not distinct from 'unsupported')
          then min(s.last_success_at) filter (where s.capability <> 'unsupported')
        end as last_success_at
      from visible c
      cross join (
        values
          ('bills', 'bills'),
          ('expenses', 'expenses'),
          ('refunds', 'expenses'),
          ('bill_credit_memos', 'bill_credit_memos'),
          ('customers', 'customers'),
          ('items', 'items'),
          ('subscriptions', 'subscriptions')
      ) as listed (stream, resource)
      left join sync.streams s on s.connection_id = c.connection_id and s.stream = listed.stream
      group by c.connection_id, listed.resource
    )
    select
      c.connection_id,
      c.connection_id as name,
      c.platform,
      c.org_id,
      min(r.last_success_at) filter (where r.resource = 'bills') as bills_last_success_at,
      now() - min(r.last_success_at) filter (where r.resource = 'bills') as bills_freshness,
      min(r.last_success_at) filter (where r.resource = 'expenses') as expenses_last_success_at,
      now() - min(r.last_success_at) filter (where r.resource = 'expenses') as expenses_freshness,
      min(r.last_success_at) filter (where r.resource = 'bill_credit_memos') as bill_credit_memos_last_success_at,
      now() - min(r.last_success_at) filter (where r.resource = 'bill_credit_memos') as bill_credit_memos_freshness,
      min(r.last_success_at) filter (where r.resource = 'customers') as customers_last_success_at,
      now() - min(r.last_success_at) filter (where r.resource = 'customers') as customers_freshness,
      min(r.last_success_at) filter (where r.resource = 'items') as items_last_success_at,
      now() - min(r.last_success_at) filter (where r.resource = 'items') as items_freshness,
      min(r.last_success_at) filter (where r.resource = 'subscriptions') as subscriptions_last_success_at,
      now() - min(r.last_success_at) filter (where r.resource = 'subscriptions') as subscriptions_freshness
    from visible c
    join resource_success r using (connection_id)
    group by c.connection_id, c.platform, c.org_id;
`;

/** It ran as its owner, who sees all, and there nobody can tell who asks; now it runs as the caller, and asks the other one. */
const asOf = `
  create function sync.as_of(resource text, at timestamptz, seen text[])
  returns table (connection_id text, record_id text, payload jsonb)
  language plpgsql stable security definer set search_path = pg_catalog as $$
  begin
    return query
      select latest.connection_id, latest.record_id, latest.payload
      from (
        select distinct on (v.connection_id, v.record_id) v.connection_id, v.record_id, v.payload, v.op
        from history.record_versions v
        where v.resource = as_of.resource and v.recorded_at <= as_of.at
          and (as_of.seen is null or v.connection_id = any (as_of.seen))
        order by v.connection_id, v.record_id, v.recorded_at desc
      ) latest
      where latest.op = 'upsert';
  end $$;
  grant execute on function sync.as_of(text, timestamptz, text[]) to public;
  comment on function sync.as_of(text, timestamptz, text[]) is 'history.as_of, of these connections; of all where there is null';

  create or replace function history.as_of(resource text, at timestamptz)
  returns table (connection_id text, record_id text, payload jsonb)
  language sql stable security invoker
  begin atomic
    select known.connection_id, known.record_id, known.payload
    from sync.as_of(as_of.resource, as_of.at, sync.connections_seen_by(current_user)) known;
  end;
`;
