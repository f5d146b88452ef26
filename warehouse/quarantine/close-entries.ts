import { sql } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';

/** Closes entries that are open; others stay as they are. */
export async function closeEntries(
  { db }: Warehouse,
  input: { ids: readonly number[]; status: 'landed' | 'discarded'; why: string },
): Promise<void> {
  if (input.ids.length === 0) return;
  await db
    .updateTable('sync.quarantine')
    .set({ status: input.status, closed_at: sql<Date>`clock_timestamp()`, closed_why: input.why })
    .where('id', 'in', [...input.ids])
    .where('status', '=', 'open')
    .execute();
}
