import { sql } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';

/** Closes an entry that is open, unless it holds another version of its record by now. */
export async function closeEntry(
  { db }: Warehouse,
  input: {
    id: number;
    /** The version that was looked at. */
    payload: string;
    status: 'landed' | 'discarded';
    why: string;
  },
): Promise<void> {
  await db
    .updateTable('sync.quarantine')
    .set({ status: input.status, closed_at: sql<Date>`clock_timestamp()`, closed_why: input.why })
    .where('id', '=', input.id)
    .where('payload', '=', input.payload)
    .where('status', '=', 'open')
    .execute();
}
