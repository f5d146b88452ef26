import type { Warehouse } from '../open-warehouse.ts';

/** Whether the views in `marts` have tables to show in the schema of marts, whoever built them. */
export async function areMartsShown({ pool }: Warehouse): Promise<boolean> {
  const { rows } = await pool.query(
    `select from pg_class t
     join pg_namespace n on n.oid = t.relnamespace
     join sync.settings s on s.name = 'marts_schema' and s.value = n.nspname
     where t.relkind = 'r' limit 1`,
  );
  return rows.length > 0;
}
