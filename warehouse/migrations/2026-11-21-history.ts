import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(historyTables).execute(db);
}

const historyTables = `
  create schema history;
  comment on schema history is 'Daybook: every content a record ever had, as far as the warehouse saw it';

  create table history.record_versions (
    connection_id text collate "C" not null,
    resource text collate "C" not null,
    record_id text collate "C" not null,
    recorded_at timestamptz not null,
    last_synced_at timestamptz,
    op text not null check (op in ('upsert', 'delete')),
    payload jsonb,
    run_id text,
    primary key (connection_id, resource, record_id, recorded_at)
  );
  -- Compressing payloads with pglz costs more CPU than writing them plain saves.
  alter table history.record_versions alter payload set storage external;

  comment on table history.record_versions is 'One row whenever the content of a record differs from its previous row, and one when it is deleted';
  comment on column history.record_versions.connection_id is 'Connection the record belongs to';
  comment on column history.record_versions.resource is 'Resource of the record: the name of its table in finance';
  comment on column history.record_versions.record_id is 'Service ID of the record';
  comment on column history.record_versions.recorded_at is 'When the warehouse learned of this version, by the database clock';
  comment on column history.record_versions.last_synced_at is 'The version in the service clock: last_synced_at, for subscriptions updated_at';
  comment on column history.record_versions.op is 'upsert or delete';
  comment on column history.record_versions.payload is 'The record as the API sent it; for a delete the last known one';
  comment on column history.record_versions.run_id is 'Run that recorded the version';

  create function history.as_of(resource text, at timestamptz)
  returns table (connection_id text, record_id text, payload jsonb)
  language sql stable security definer
  begin atomic
    select latest.connection_id, latest.record_id, latest.payload
    from (
      select distinct on (v.connection_id, v.record_id) v.connection_id, v.record_id, v.payload, v.op
      from history.record_versions v
      where v.resource = as_of.resource and v.recorded_at <= as_of.at
      order by v.connection_id, v.record_id, v.recorded_at desc
    ) latest
    where latest.op = 'upsert';
  end;
  comment on function history.as_of(text, timestamptz) is 'The records of a resource as the warehouse knew them at a moment';
`;
