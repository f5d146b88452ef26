import type { Warehouse } from '../open-warehouse.ts';

/** Counts the entries, closed ones too or only the open ones. Counting takes long if there are millions. */
export async function countEntries(
  { pool }: Pick<Warehouse, 'pool'>,
  { all, connectionId }: { all: boolean; connectionId: string | undefined },
): Promise<number> {
  const { rows } = await pool.query<{ entries: number }>(
    `select count(*) as entries from sync.quarantine
     where ($1 or status = 'open') and ($2::text is null or connection_id = $2)`,
    [all, connectionId ?? null],
  );
  return rows[0]?.entries ?? 0;
}
