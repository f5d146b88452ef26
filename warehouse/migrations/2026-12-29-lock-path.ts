import { sql, type Kysely } from 'kysely';

/**
 * It calls a function with other types than Postgres has it for, so one of them in `public` or in a schema of the owner's name went before.
 * What `migrate` sets for its role prevents that too, but a session may have begun before, or with a path that somebody else has set.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw('alter function sync.lock(text) set search_path = pg_catalog, pg_temp').execute(db);
}
