import type { PoolClient } from 'pg';
import { codeOf } from '../../errors/code-of.ts';
import { closeDatabase } from './close-database.ts';

/**
 * Creates the role that people query with: it sees `finance`, `marts`, `history.as_of` and the catalog of the Iceberg tables, never a secret. Also
 * closes the database to those without a grant. Returns the SQL that an administrator has to run if we may not. Expects a transaction.
 */
export async function readerRole(client: PoolClient): Promise<string | null> {
  await client.query(`select sync.lock('readers')`);
  const createRole = await createRoleSql(client);
  const left = [
    (await isDone(client, createRole)) && (await isDone(client, grants)) ? '' : createRole + grants,
    await closeDatabase(client),
  ];
  return left.join('').trim() || null;
}

/** Runs the statements, and returns whether that was allowed. */
async function isDone(client: PoolClient, statements: string): Promise<boolean> {
  await client.query('savepoint before');
  try {
    await client.query(statements);
    return true;
  } catch (error) {
    if (!isNotAllowed(error)) throw error;
    await client.query('rollback to savepoint before');
    return false;
  }
}

/** Returns the SQL with the name of the warehouse's owner, because an administrator may run it too. */
async function createRoleSql(client: PoolClient): Promise<string> {
  const { rows } = await client.query<{ text: string }>('select format($1, current_user) as text', [
    createRoleTemplate,
  ]);
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
grant usage on schema finance, history, marts, iceberg to daybook_reader;
grant select on all tables in schema finance, marts, iceberg to daybook_reader;
revoke execute on all functions in schema history from public;
grant execute on all functions in schema history to daybook_reader;
`;

function isNotAllowed(error: unknown): boolean {
  return codeOf(error) === '42501';
}
