import { sql, type Kysely } from 'kysely';

/** Of one connection, or of one record of it: without looking at the others, which a condition on the result would not spare. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(asOf).execute(db);
}

const asOf = `
  create function sync.as_of(resource text, at timestamptz, connection text, record text, seen text[])
  returns table (connection_id text, record_id text, payload jsonb)
  language plpgsql stable security definer set search_path = pg_catalog as $$
  begin
    if connection <> all (seen) then
      return;
    elsif record is null then
      return query
        select latest.connection_id, latest.record_id, latest.payload
        from (
          select distinct on (v.record_id) v.connection_id, v.record_id, v.payload, v.op
          from history.record_versions v
          where v.connection_id = as_of.connection and v.resource = as_of.resource and v.recorded_at <= as_of.at
          order by v.record_id, v.recorded_at desc
        ) latest
        where latest.op = 'upsert';
    else
      return query
        select latest.connection_id, latest.record_id, latest.payload
        from (
          select v.connection_id, v.record_id, v.payload, v.op
          from history.record_versions v
          where v.connection_id = as_of.connection and v.resource = as_of.resource
            and v.record_id = as_of.record and v.recorded_at <= as_of.at
          order by v.recorded_at desc
          limit 1
        ) latest
        where latest.op = 'upsert';
    end if;
  end $$;
  grant execute on function sync.as_of(text, timestamptz, text, text, text[]) to public;
  comment on function sync.as_of(text, timestamptz, text, text, text[]) is
    'history.as_of of one connection, where it is one of these; any where there is null';

  create function history.as_of(resource text, at timestamptz, connection text, record text default null)
  returns table (connection_id text, record_id text, payload jsonb)
  language sql stable security invoker
  begin atomic
    select known.connection_id, known.record_id, known.payload
    from sync.as_of(
      as_of.resource, as_of.at, as_of.connection, as_of.record, sync.connections_seen_by(current_user)
    ) known;
  end;
  revoke execute on function history.as_of(text, timestamptz, text, text) from public;
  comment on function history.as_of(text, timestamptz, text, text) is
    'The records of one connection, or one record, as the warehouse knew them at a moment';

  do $$ begin
    if exists (select from pg_roles where rolname = 'daybook_tenant') then
      grant execute on function history.as_of(text, timestamptz, text, text) to daybook_tenant;
    end if;
  end $$;
`;
