import { isTooLong } from '../../resources/longest-id.ts';
import { streamsOf } from '../../resources/streams-of.ts';
import type { Warehouse } from '../open-warehouse.ts';
import type { RunScope } from '../record-scope.ts';

/** Reads IDs of some records that the listing of the connection's open reconcile showed, and that can be fetched. */
export async function listedIds(
  { pool }: Pick<Warehouse, 'pool'>,
  { connectionId, resource }: RunScope,
): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `select jsonb_array_elements(page.records) ->> 0 as id
     from (
       select records from sync.listed_pages
       where connection_id = $1 and stream = any($2::text[]) and listing = 1 and records <> '[]'
       limit 1
     ) page
     limit 10`,
    [connectionId, streamsOf(resource)],
  );
  return rows.map(({ id }) => id).filter((id) => !isTooLong(id));
}
