import type { ClientBase } from 'pg';
import { named, type SnapshotTable } from './snapshot-table.ts';

/** Bytes that the longest row of a table has at most as CSV: as Postgres writes a row, more is quoted, and backslashes are doubled too. */
export async function longestRow(client: ClientBase, { from, columns }: SnapshotTable): Promise<number> {
  const values = columns.map(({ name }) => named(name)).join(', ');
  const { rows } = await client.query<{ bytes: number | null }>(
    `select max(octet_length(replace(row(${values})::text, '\\\\', '\\'))) as bytes from ${from}`,
  );
  return rows[0]?.bytes ?? 0;
}
