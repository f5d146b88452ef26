import type { ClientBase } from 'pg';
import { heldValue } from './held-value.ts';
import { named, type SnapshotTable } from './snapshot-table.ts';

/** A value that its Parquet type cannot hold to the last digit, as Postgres writes it. */
export interface UnfitValue {
  table: string;
  column: string;
  key: Record<string, string | number>;
  value: string;
  /** Whether the file holds it with fewer decimals; otherwise it is null there. */
  rounded: boolean;
}

/** Those of some columns of a table, in the order of columns and rows. */
export async function listUnfit(
  client: ClientBase,
  { table, unfitColumns }: { table: SnapshotTable; unfitColumns: readonly string[] },
): Promise<UnfitValue[]> {
  const { from, key } = table;
  const found: UnfitValue[] = [];
  for (const column of table.columns.filter(({ name }) => unfitColumns.includes(name))) {
    const held = heldValue(column);
    if (held === undefined) continue;
    const { rows } = await client.query<Pick<UnfitValue, 'key' | 'value' | 'rounded'>>(
      `select
         json_build_object(${key.map((name) => `'${name}', ${named(name)}`).join(', ')}) as key,
         ${named(column.name)}::text as value,
         ${held.isHeld} as rounded
       from ${from}
       where not ${held.isExact}
       order by ${key.map(named).join(', ')}`,
    );
    for (const row of rows) found.push({ table: table.name, column: column.name, ...row });
  }
  return found;
}
