import { sql, type Kysely } from 'kysely';

/**
 * Sets the search path of `sync.lock`. It calls a function with other types than Postgres has it for, so one in `public`, or in a schema of the
 * owner's name, took precedence. The role setting of `migrate` prevents that too, but a session may have begun before, or with another path.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw('alter function sync.lock(text) set search_path = pg_catalog, pg_temp').execute(db);
}
