import type { Warehouse } from '../../warehouse/open-warehouse.ts';

/**
 * How many rows of the table statements look at meanwhile, by a scan of it or of an index. The warehouse has one session, so that what it has
 * read can be asked of it.
 */
export async function rowsLookedAt<Found>(
  warehouse: Warehouse,
  table: string,
  read: () => Promise<Found>,
): Promise<{ found: Found; looked: number }> {
  const before = await rowsRead(warehouse, table);
  const found = await read();
  return { found, looked: (await rowsRead(warehouse, table)) - before };
}

async function rowsRead({ pool }: Warehouse, table: string): Promise<number> {
  await pool.query('select pg_stat_force_next_flush()');
  const { rows } = await pool.query<{ rows: number }>(
    `select t.seq_tup_read + sum(i.idx_tup_read) as rows
     from pg_stat_user_tables t join pg_stat_user_indexes i using (relid)
     where t.relid = $1::regclass group by t.seq_tup_read`,
    [table],
  );
  return Number(rows[0]?.rows);
}
