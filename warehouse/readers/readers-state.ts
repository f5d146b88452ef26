import { openToPublic } from './close-database.ts';
import { inTransaction } from '../transactions/in-transaction.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { becomeReader } from '../query/query-as-reader.ts';

export interface ReadersState {
  /** Whether queries run as the role for readers. */
  readonly hasRole: boolean;
  /** SQL that a user with the right has to run, in one line; empty: nothing. */
  readonly toRun: string;
  /** Logins that were given the role but may not connect to this database. */
  readonly notLetIn: readonly string[];
}

export async function readersState({ pool }: Warehouse): Promise<ReadersState> {
  const hasRole = await inTransaction(pool, ({ client }) => becomeReader(client));
  const [{ role, not_let_in }, open] = await Promise.all([readRole(pool), openToPublic(pool)]);
  return {
    hasRole,
    toRun: [...(hasRole ? [] : [role]), ...open.map((statement) => statement.trim())].join(' '),
    notLetIn: not_let_in,
  };
}

async function readRole(pool: Warehouse['pool']): Promise<{ role: string; not_let_in: string[] }> {
  const { rows } = await pool.query<{ role: string; not_let_in: string[] }>(`
    select
      case when to_regrole('daybook_reader') is null then 'create role daybook_reader nologin; ' else '' end
        || format('grant daybook_reader to %I;', current_user) as role,
      array(
        select rolname::text from pg_roles
        where rolcanlogin and not rolsuper and pg_has_role(oid, to_regrole('daybook_reader'), 'member')
          and not has_database_privilege(oid, current_database(), 'connect')
        order by 1
      ) as not_let_in
  `);
  return rows[0] ?? { role: '', not_let_in: [] };
}
