import { sql } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';

/** Reads the current time from the clock that all times in the warehouse come from. */
export async function readClock({ db }: Pick<Warehouse, 'db'>): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('Postgres did not say what time it is.');
  return row.now;
}
