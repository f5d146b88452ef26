import { sql, type Kysely } from 'kysely';

/** A build with Spark that has lost its lock commits nothing more to the catalog of Iceberg tables. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(guardedCommits).execute(db);
}

/** `daybook.build_lock` is a setting of Spark's own sessions. */
const guardedCommits = `
  create function iceberg.require_build_lock() returns trigger
    language plpgsql
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      build_lock text := current_setting('daybook.build_lock', true);
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
      return null;
    end
    $$;
  comment on function iceberg.require_build_lock() is
    'Refuses the commit of a build with Spark that has lost its lock. Its sessions name the transaction that holds it: daybook.build_lock';

  create trigger require_build_lock before insert or update or delete on iceberg.iceberg_tables
    for each statement execute function iceberg.require_build_lock();
`;
