import type { Warehouse } from '../warehouse/open-warehouse.ts';

/** Changes with every write to finance and history: of each table the number of rows, and the newest transaction that wrote one. */
export async function lastWrites({ pool }: Warehouse): Promise<string> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname in ('finance', 'history') order by name`,
  );
  const statements = tables.map(
    ({ name }) =>
      `select '${name}' as name, count(*) as rows, max(xmin::text::bigint) as writer from ${name}`,
  );
  const { rows } = await pool.query(`${statements.join(' union all ')} order by name`);
  return JSON.stringify(rows);
}
