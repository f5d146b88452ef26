import { sql, type Kysely } from 'kysely';

/** A list that has stalled is as fresh as its watermark: it does not show newer records that the service is known to have. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(stalledFreshness).execute(db);
}

const stalledFreshness = `
  do $$
  declare one record;
  begin
    execute 'create or replace view finance.connections with (security_barrier = true) as ' || regexp_replace(
      pg_get_viewdef('finance.connections'::regclass),
      '\\ms\\.last_success_at\\M',
      '(case when s.stalled_at is null or s.last_success_at < s.watermark then s.last_success_at else s.watermark end)',
      'g');
    for one in
      select attname, col_description(attrelid, attnum) as comment
      from pg_attribute
      where attrelid = 'finance.connections'::regclass and attname ~ '_(last_success_at|freshness)$'
    loop
      execute format('comment on column finance.connections.%I is %L', one.attname,
        one.comment || case when one.attname like '%freshness' then '; of a list that has stalled since its watermark'
          else '; of a list that has stalled its watermark' end);
    end loop;
  end $$;
`;
