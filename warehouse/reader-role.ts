import { sql } from 'kysely';
import type { Warehouse } from './open-warehouse.ts';

/**
 * The role people query with: sees `finance` and `history.as_of`, never a secret. Made here where we may;
 * otherwise the SQL an administrator has to run is returned.
 */
export async function readerRole(db: Warehouse['db']): Promise<string | null> {
  try {
    await sql.raw(createRole).execute(db);
    await sql.raw(grants).execute(db);
    return null;
  } catch (error) {
    if (!isNotAllowed(error)) throw error;
    return `${createRole.trim()}\n${grants.trim()}`;
  }
}

/** Two databases of one server may be migrated at once, and roles belong to the server. */
const createRole = `
do $$ begin
  if not exists (select from pg_roles where rolname = 'daybook_reader') then
    create role daybook_reader nologin;
  end if;
exception when duplicate_object or unique_violation then null;
end $$;
do $$ begin
  execute format('grant daybook_reader to %I', current_user);
end $$;
`;

const grants = `
grant usage on schema finance, history to daybook_reader;
grant select on all tables in schema finance to daybook_reader;
revoke execute on function history.as_of(text, timestamptz) from public;
grant execute on function history.as_of(text, timestamptz) to daybook_reader;
`;

function isNotAllowed(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === '42501';
}
