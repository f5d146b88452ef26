import { sql } from 'kysely';
import type { Warehouse } from './open-warehouse.ts';

/**
 * The role people query with: sees `finance` and `history.as_of`, never a secret. Made here where we may;
 * otherwise the SQL an administrator has to run is returned.
 */
export async function readerRole(db: Warehouse['db']): Promise<string | null> {
  const createRole = await createRoleSql(db);
  try {
    await sql.raw(createRole).execute(db);
    await sql.raw(grants).execute(db);
    return null;
  } catch (error) {
    if (!isNotAllowed(error)) throw error;
    return `${createRole.trim()}\n${grants.trim()}`;
  }
}

/** The SQL names the owner of the warehouse, as an administrator may run it too. */
async function createRoleSql(db: Warehouse['db']): Promise<string> {
  const { rows } = await sql<{ text: string }>`
    select format(${createRoleTemplate}, current_user) as text
  `.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('Postgres returned no text.');
  return row.text;
}

/** Two databases of one server may be migrated at once, and roles belong to the server. */
const createRoleTemplate = `
do $$ begin
  if not exists (select from pg_roles where rolname = 'daybook_reader') then
    create role daybook_reader nologin;
  end if;
exception when duplicate_object or unique_violation then null;
end $$;
do $$ begin
  if not pg_has_role(%1$L, 'daybook_reader', 'usage') then
    grant daybook_reader to %1$I;
  end if;
end $$;
`;

const grants = `
grant usage on schema finance, history, marts to daybook_reader;
grant select on all tables in schema finance, marts to daybook_reader;
revoke execute on function history.as_of(text, timestamptz) from public;
grant execute on function history.as_of(text, timestamptz) to daybook_reader;
`;

function isNotAllowed(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === '42501';
}
