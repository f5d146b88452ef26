import type { Warehouse } from '../open-warehouse.ts';

/** How many entries there are, closed ones too or open ones alone: each is counted, which takes its time where they are millions. */
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
