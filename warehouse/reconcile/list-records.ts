import type { PoolClient } from 'pg';
import type { PassInHand } from '../passes/pass.ts';

/**
 * Stores the IDs of records that a page of a reconcile's listing showed but that could not land: they are not absent. The facts about the others are
 * stored as they are compared (`inspectRecords`).
 *
 * One row a page, not one a record: a million of them would cost as much as the landing.
 */
export async function listRefused(
  client: PoolClient,
  { pass, ids }: { pass: PassInHand; ids: readonly string[] },
): Promise<void> {
  if (ids.length === 0) return;
  await client.query({
    name: 'list refused records',
    text: insertListed('$2::jsonb', { stream: '$3', part: '$4' }),
    values: [pass.connectionId, JSON.stringify(ids.map((id) => [id])), pass.stream, pass.part],
  });
}

/** Returns SQL that adds records to those of the page that the reconcile's pass is at. Parameter $1 is the connection, the others are as given. */
export function insertListed(
  records: string,
  { from, stream, part }: { from?: string; stream: string; part: string },
): string {
  return `
    insert into sync.listed_pages as page (connection_id, stream, listing, page, records)
    select $1, ${stream}, p.listing, p.pages, ${records}
    from sync.passes p ${from === undefined ? '' : `cross join ${from}`}
    where p.connection_id = $1 and p.stream = ${stream} and p.kind = 'reconcile' and p.part = ${part}
    on conflict (connection_id, stream, listing, page) do update set records = page.records || excluded.records`;
}
