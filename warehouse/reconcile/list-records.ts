import type { PoolClient } from 'pg';
import type { PassInHand } from '../passes/pass.ts';

/**
 * Notes what a page of a reconcile's listing showed: the facts of each record, as `inspectRecords` read them. Records that
 * could not land are noted too, by their ids alone: they are not absent.
 *
 * One row a page, not one a record: a million of them would cost as much as the landing.
 */
export async function listRecords(
  client: PoolClient,
  input: { pass: PassInHand; facts: readonly string[]; refusedIds: readonly string[] },
): Promise<void> {
  const { pass, facts, refusedIds } = input;
  const records = [...facts, ...refusedIds.map((id) => JSON.stringify([id]))];
  await client.query({
    name: 'list records',
    text: `
      insert into sync.listed_pages (connection_id, stream, listing, page, records)
      select $1, $2, p.listing, p.pages, $4::jsonb
      from sync.passes p
      where p.connection_id = $1 and p.stream = $2 and p.kind = 'reconcile' and p.part = $3`,
    values: [pass.connectionId, pass.stream, pass.part, `[${records.join(',')}]`],
  });
}
