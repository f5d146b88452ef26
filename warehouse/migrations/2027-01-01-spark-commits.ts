import { sql, type Kysely } from 'kysely';

/** Neither a build with Spark nor the program that writes the other Iceberg tables commits anything to the catalog without its lock. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(guardedCommits).execute(db);
}

/** `daybook.build_lock` is a setting of Spark's own sessions, `daybook.tables_lock` of that program's. */
const guardedCommits = `
  create function iceberg.require_lock() returns trigger
    language plpgsql
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      build_lock text := current_setting('daybook.build_lock', true);
      tables_lock text := current_setting('daybook.tables_lock', true);
    begin
      if build_lock <> '' then
        -- In a statement of its own, because other roles may not look up what is in the schema.
        if not exists (
          select from pg_locks
          where database = (select oid from pg_database where datname = current_database())
            and relation = 'sync.marts_spark_lock'::regclass
            and mode = 'ShareUpdateExclusiveLock'
            and granted
            and pid || ' ' || virtualtransaction = build_lock
        ) then
          raise exception 'This build has lost its lock: another one may be writing.';
        end if;
      end if;
      if tables_lock <> '' then
        if not exists (
          select from pg_locks
          where database = (select oid from pg_database where datname = current_database())
            and relation = 'iceberg.iceberg_namespace_properties'::regclass
            and mode = 'RowShareLock'
            and granted
            and pid || ' ' || virtualtransaction = tables_lock
        ) then
          raise exception 'This program has lost its lock: another one may be writing.';
        end if;
      end if;
      return null;
    end
    $$;
  comment on function iceberg.require_lock() is
    'Refuses a commit without the lock of its program, whose sessions name the transaction that holds it: daybook.build_lock, daybook.tables_lock';

  create trigger require_lock before insert or update or delete on iceberg.iceberg_tables
    for each statement execute function iceberg.require_lock();
`;
