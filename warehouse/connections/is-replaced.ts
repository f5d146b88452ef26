import type { Warehouse } from '../open-warehouse.ts';
import { tokenMarkSql } from '../secrets/sealed-token.ts';

/** Whether the connection's token has been replaced since this mark (`tokenMark`). */
export async function isReplaced(
  { pool }: Pick<Warehouse, 'pool'>,
  { connectionId, token }: { readonly connectionId: string; readonly token: string },
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `select from sync.connections where connection_id = $1 and ${tokenMarkSql} <> $2`,
    [connectionId, token],
  );
  return rowCount === 1;
}
