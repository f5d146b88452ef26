import type { ClientBase } from 'pg';
import { codeOf } from '../../errors/code-of.ts';

/**
 * Settings with which all our sessions begin, stored with the role: a pooler takes none from a client that logs in, and a later `set` would affect
 * the next client too. A process that stalls in a transaction loses its locks. Plans are not compiled: that took 2.2 s for alerts of 10,000
 * connections that are read in 0.18 s. Functions and operators are looked up in `pg_catalog` alone: Postgres prefers one of another schema whose
 * types fit better, so anybody who may create in `public` could make the owner run theirs.
 */
const settings: Readonly<Record<string, string>> = {
  idle_in_transaction_session_timeout: '30s',
  jit: 'off',
  search_path: 'pg_catalog',
};

/** Does the same for one transaction, because the sessions of a first `migrate` began before the role had the setting. */
export const ownNamesAlone = 'set local search_path = pg_catalog';

/**
 * Sets, in this database, those settings that nobody has set, if that is allowed: for the role that logs in, and for the one that it acts as, which
 * may log in elsewhere. Expects a transaction, one at a time.
 */
export async function setRoleSettings(client: ClientBase): Promise<void> {
  await setIfAllowed(client, await findMissingSettings(client, 'current_user'));
  const ofLogin = await findMissingSettings(client, 'session_user');
  // One may alter oneself. The role that was acted as is back after the transaction, or the rollback.
  if (ofLogin.length > 0) await setIfAllowed(client, [`set local role none`, ...ofLogin, 'reset role']);
}

async function setIfAllowed(client: ClientBase, statements: readonly string[]): Promise<void> {
  await client.query('savepoint before');
  try {
    for (const statement of statements) await client.query(statement);
  } catch (error) {
    if (codeOf(error) !== '42501') throw error;
    await client.query('rollback to savepoint before');
  }
}

/**
 * Returns the SQL to run for the role that logs in to these sessions, whichever role they act as: one statement each; none after `migrate` has run
 * as that role.
 */
export function missingRoleSettings(client: Pick<ClientBase, 'query'>): Promise<string[]> {
  return findMissingSettings(client, 'session_user');
}

async function findMissingSettings(
  client: Pick<ClientBase, 'query'>,
  role: 'session_user' | 'current_user',
): Promise<string[]> {
  const { rows } = await client.query<{ statement: string }>(
    `select format('alter role %I in database %I set %s = %L;', ${role}, current_database(), name, value) as statement
     from jsonb_each_text($1) as wanted (name, value)
     where not exists (
       select from pg_db_role_setting, unnest(setconfig) as entry
       where setrole = (select oid from pg_roles where rolname = ${role})
         and setdatabase in (0, (select oid from pg_database where datname = current_database()))
         and split_part(entry, '=', 1) = name
     )
     order by name`,
    [settings],
  );
  return rows.map(({ statement }) => statement);
}
