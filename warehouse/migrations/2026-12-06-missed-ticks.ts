import { sql, type Kysely } from 'kysely';

/** Schedules that were due and did not fire, so that an alert tells of them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(statements).execute(db);
}

/** The view before its table, as whoever reads it takes them. */
const statements = `
  lock table finance.connections, sync.connections in access exclusive mode;
  alter table sync.all_connections
    add column ticks_missed integer,
    add column ticks_missed_at timestamptz;
  comment on column sync.all_connections.ticks_missed is
    'How many times its schedules were due and did not fire, as Temporal counts since it has them; null: not asked yet';
  comment on column sync.all_connections.ticks_missed_at is 'When it was last noticed that they were more than before';
  do $$
  declare one record;
  begin
    execute 'create or replace view sync.connections as '
      || regexp_replace(pg_get_viewdef('sync.connections'::regclass), '\\s+FROM ', ', ticks_missed, ticks_missed_at FROM ');
    for one in
      select attname, col_description(attrelid, attnum) as comment
      from pg_attribute
      where attrelid = 'sync.all_connections'::regclass and attname in ('ticks_missed', 'ticks_missed_at')
    loop
      execute format('comment on column sync.connections.%I is %L', one.attname, one.comment);
    end loop;
  end $$;
  comment on column sync.alerts.kind is
    'What is wrong: failed, paused, stale, stalled, unsupported, approval, quarantine, webhooks, stuck, missed, export, marts';
`;
