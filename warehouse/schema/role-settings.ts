import type { ClientBase } from 'pg';
import { codeOf } from '../../errors/code-of.ts';

/**
 * What every session of ours begins with, as a setting of the role: a pooler takes none from a client that logs in, and what is set later
 * would be the next client's too. A process that stopped without an end lets go of its locks; and plans are not compiled, which took 2.2 s
 * for alerts of 10,000 connections that are read in 0.18 s. Functions and operators are looked for in `pg_catalog` alone: Postgres prefers
 * one of another schema whose types fit better, and whoever may create in `public` would have the owner run theirs.
 */
const settings: Readonly<Record<string, string>> = {
  idle_in_transaction_session_timeout: '30s',
  jit: 'off',
  search_path: 'pg_catalog',
};

/** Does the same for one transaction: the sessions of a first `migrate` began before the role had the setting. */
export const ownNamesAlone = 'set local search_path = pg_catalog';

/** Sets, for our role in this database, what nobody has set for it, where that is allowed. In a transaction, one at a time. */
export async function setRoleSettings(client: ClientBase): Promise<void> {
  await client.query('savepoint before');
  try {
    for (const statement of await missingRoleSettings(client)) await client.query(statement);
  } catch (error) {
    if (codeOf(error) !== '42501') throw error;
    await client.query('rollback to savepoint before');
  }
}

/** The SQL to be run for the role of these sessions, one statement each: none after `migrate` was run as that role. */
export async function missingRoleSettings(client: Pick<ClientBase, 'query'>): Promise<string[]> {
  const { rows } = await client.query<{ statement: string }>(
    `select format('alter role %I in database %I set %s = %L;', current_user, current_database(), name, value) as statement
     from jsonb_each_text($1) as wanted (name, value)
     where not exists (
       select from pg_db_role_setting, unnest(setconfig) as entry
       where setrole = (select oid from pg_roles where rolname = current_user)
         and setdatabase in (0, (select oid from pg_database where datname = current_database()))
         and split_part(entry, '=', 1) = name
     )
     order by name`,
    [settings],
  );
  return rows.map(({ statement }) => statement);
}
