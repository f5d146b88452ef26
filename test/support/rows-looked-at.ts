import type { Warehouse } from '../../warehouse/open-warehouse.ts';

/**
 * Counts the rows of the table that statements look at while `read` runs, by a scan of the table or of an index. The warehouse must have
 * one session, so that its statistics can be asked for.
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

/** Rows that statements have looked at so far, by index and by table that was read sequentially. The warehouse must have one session. */
export async function rowsLookedAtSoFar({ pool }: Warehouse): Promise<ReadonlyMap<string, number>> {
  await pool.query('select pg_stat_force_next_flush()');
  const { rows } = await pool.query<{ what: string; number: number }>(
    `select relid::regclass::text as what, seq_tup_read::float8 as number from pg_stat_user_tables
     union all select indexrelid::regclass::text, idx_tup_read::float8 from pg_stat_user_indexes`,
  );
  return new Map(rows.map(({ what, number }) => [what, number]));
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
