import { sql, type Kysely } from 'kysely';

/**
 * Puts `pg_temp` last, because a search path that does not name it has it first. Anybody who may create temporary tables could put one in the place
 * of a catalog that a function of the owner reads, and so see every company, or run SQL as the owner.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(temporarySchemasLast).execute(db);
}

const temporarySchemasLast = `
  do $$
  declare
    ours regprocedure;
  begin
    for ours in
      select p.oid from pg_proc p join pg_namespace n on n.oid = p.pronamespace
      where p.prosecdef and n.nspname in ('sync', 'finance', 'history', 'marts')
    loop
      execute format('alter function %s set search_path = pg_catalog, pg_temp', ours);
    end loop;
  end
  $$;
`;
