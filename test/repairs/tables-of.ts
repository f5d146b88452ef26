import { resources } from '../../resources/index.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { rows } from '../support/rows.ts';

const dataTables = resources.flatMap(({ name, children }) => [name, ...children.map(({ table }) => table)]);

/** Every row as text. The table whose rows were lost is shown without the hash, which history does not know. */
export async function tablesOf(
  warehouse: Warehouse,
  connectionId: string,
  lost = '',
): Promise<Record<string, unknown[]>> {
  const tables: Record<string, unknown[]> = {};
  for (const table of dataTables) {
    const found = await rows(
      warehouse,
      `select (to_jsonb(t) - '${table === lost ? '_content_hash' : ''}')::text as row
       from finance.${table} t where connection_id = $1 order by 1`,
      [connectionId],
    );
    tables[table] = found.map((one) => one.row);
  }
  return tables;
}
