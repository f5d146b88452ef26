import type { Warehouse } from '../../warehouse/open-warehouse.ts';

export type Row = Record<string, unknown>;

export async function rows(
  { pool }: Warehouse,
  statement: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  return (await pool.query<Row>(statement, [...values])).rows;
}

/** The only row of a statement. Throws if there are more or none. */
export async function row(
  warehouse: Warehouse,
  statement: string,
  values?: readonly unknown[],
): Promise<Row> {
  const [only, ...others] = await rows(warehouse, statement, values);
  if (only === undefined || others.length > 0) {
    throw new Error(
      `Expected one row, found ${only === undefined ? 'none' : others.length + 1}: ${statement}`,
    );
  }
  return only;
}
