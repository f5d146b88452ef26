import type { ClientBase } from 'pg';
import { codeOf } from '../../errors/code-of.ts';

/**
 * Revokes from PUBLIC the rights that let in readers of other databases of the server, and let readers write: CONNECT, TEMPORARY, and CREATE on the
 * schema `public`, which databases from before Postgres 15 have. Logins that were granted something in this database can still connect. Returns the
 * SQL that an administrator has to run if we may not.
 */
export async function closeDatabase(client: ClientBase): Promise<string> {
  if ((await openToPublic(client)).length === 0) return '';
  const statements = [...(await letInBefore(client)), ...(await openToPublic(client))].join('');
  await client.query('savepoint before');
  try {
    // A user who may not revoke is only warned, unless they have no right at all.
    await client.query(statements);
  } catch (error) {
    if (codeOf(error) !== '42501') throw error;
    await client.query('rollback to savepoint before');
  }
  return (await openToPublic(client)).length === 0 ? '' : statements;
}

/** Returns a statement for each right that PUBLIC has and should not have. */
export async function openToPublic(client: Pick<ClientBase, 'query'>): Promise<string[]> {
  const { rows } = await client.query<{ statement: string }>(`
    select format(E'revoke %s on database %I from public;\n', lower(may), current_database()) as statement
    from unnest(array['CONNECT', 'TEMPORARY']) as may
    where has_database_privilege('public', current_database(), may)
    union all
    select E'revoke create on schema public from public;\n'
    from pg_namespace where nspname = 'public' and has_schema_privilege('public', oid, 'create')
  `);
  return rows.map(({ statement }) => statement);
}

/**
 * Returns a grant for each login that stays let in. The role for readers belongs to the whole server. If no other database knows it, its members read
 * this one. If others do, nobody can tell which of them a member is to read, so it needs a separate grant.
 */
async function letInBefore(client: ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ statement: string }>(`
    with given as (
      select distinct refobjid as role_id, refobjid = to_regrole('daybook_reader') is true as is_reader
      from pg_shdepend
      where refclassid = 'pg_authid'::regclass
        and dbid = (select oid from pg_database where datname = current_database())
    ), known_elsewhere as (
      select exists (
        select from pg_shdepend
        where refclassid = 'pg_authid'::regclass and refobjid = to_regrole('daybook_reader')
          and dbid not in (0, (select oid from pg_database where datname = current_database()))
      ) as yes
    )
    select format(E'grant connect on database %I to %I;\n', current_database(), login.rolname) as statement
    from pg_roles login
    where rolcanlogin and not rolsuper and exists (
      select from given, known_elsewhere
      where pg_has_role(login.oid, given.role_id, 'member') and not (is_reader and known_elsewhere.yes)
    )
    order by 1
  `);
  return rows.map(({ statement }) => statement);
}
