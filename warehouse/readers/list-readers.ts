import { sql } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';

export interface ReaderListed {
  readonly reader: string;
  readonly login: string;
  readonly connections: readonly string[];
  readonly created_at: Date;
  readonly password_set_at: Date;
  /** Why it cannot read, for a person; null: it can. */
  readonly trouble: string | null;
  /** Roles that see all connections and that somebody granted to its login: with `set role`, the login sees all of them too. */
  readonly beyond: readonly string[];
}

export async function listReaders({ db }: Pick<Warehouse, 'db'>): Promise<ReaderListed[]> {
  const { rows } = await sql<ReaderListed>`
    select r.reader, r.login,
      array(select connection_id from sync.reader_connections g where g.reader = r.reader order by 1) as connections,
      r.created_at, r.password_set_at,
      case
        when r.database_name <> current_database() then 'its login is that of database ' || r.database_name
        when role.oid is null then 'its login does not exist'
        when not role.rolcanlogin or pg_has_role(role.oid, tenant.oid, 'usage') is not true
          or not has_database_privilege(role.oid, current_database(), 'connect')
          then 'its login lacks rights'
        when not (
          select bool_and(has_table_privilege(tenant.oid, c.oid, 'select'))
          from pg_class c where c.relnamespace = 'finance'::regnamespace and c.relkind in ('r', 'p', 'v')
        ) then 'finance is not open to it: run "daybook migrate"'
      end as trouble,
      array(
        select other.rolname::text from pg_roles other
        where other.oid <> role.oid and pg_has_role(role.oid, other.oid, 'member')
          and pg_has_role(other.oid, tenant.oid, 'usage') is not true
          and has_table_privilege(other.oid, 'finance.connections', 'select')
        order by 1
      ) as beyond
    from sync.readers r
    left join pg_roles role on role.rolname = r.login
    left join pg_roles tenant on tenant.rolname = 'daybook_tenant'
    order by r.reader
  `.execute(db);
  return rows;
}
