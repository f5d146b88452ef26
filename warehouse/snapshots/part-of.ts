import pg from 'pg';
import type { SnapshotTable } from './snapshot-table.ts';

/** The rows of some connections, as a table of its own. */
export function partOf(table: SnapshotTable, connections: readonly string[]): SnapshotTable {
  const names = connections.map((name) => pg.escapeLiteral(name)).join(', ');
  return {
    ...table,
    from: `(select * from ${table.from} where connection_id in (${names})) as ${table.name}`,
  };
}
