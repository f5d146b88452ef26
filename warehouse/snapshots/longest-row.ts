import type { ClientBase } from 'pg';
import { named, type SnapshotTable } from './snapshot-table.ts';

/** Returns the most bytes that a row of a table can take as CSV: the text of a row quotes more than CSV, and doubles backslashes too. */
export async function longestRow(client: ClientBase, { from, columns }: SnapshotTable): Promise<number> {
  const values = columns.map(({ name }) => named(name)).join(', ');
  const { rows } = await client.query<{ bytes: number | null }>(
    `select max(octet_length(replace(row(${values})::text, '\\\\', '\\'))) as bytes from ${from}`,
  );
  return rows[0]?.bytes ?? 0;
}
