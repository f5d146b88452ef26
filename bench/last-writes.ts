import type { Warehouse } from '../warehouse/open-warehouse.ts';

/** Returns a text that changes with every write to finance and history: for each table the number of rows, and the newest writing transaction. */
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
