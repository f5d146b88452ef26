import type { Warehouse } from '../open-warehouse.ts';
import type { QuarantineEntry } from './read-quarantine.ts';

/**
 * Closes entries that a person does not want, and stores their content, so that it opens no entry again. An entry that is closed, or holds other
 * content by now than the person was shown, stays as it is. Returns the numbers of the closed entries.
 */
export async function discardEntries(
  { pool }: Warehouse,
  { entries, why }: { entries: readonly Pick<QuarantineEntry, 'id' | 'content'>[]; why: string },
): Promise<number[]> {
  const { rows } = await pool.query<{ id: number }>(
    `update sync.quarantine entry set
       status = 'discarded', closed_at = clock_timestamp(), closed_why = $3,
       discarded_content = shown.content
     from unnest($1::bigint[], $2::text[]) as shown (id, content)
     where entry.id = shown.id and entry.status = 'open'
       and coalesce(entry.content, sync.content_hash(entry.payload)) = shown.content
     returning entry.id::int as id`,
    [entries.map(({ id }) => id), entries.map(({ content }) => content), why],
  );
  return rows.map(({ id }) => id);
}
