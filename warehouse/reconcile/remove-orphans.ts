import type { PoolClient } from 'pg';
import type { Resource } from '../../resources/resource.ts';
import { inTransaction } from '../transactions/in-transaction.ts';
import { removeChildren } from '../landing/remove-children.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { lockResource } from '../passes/lock-pass.ts';
import type { RecordScope } from '../record-scope.ts';
import { withoutNestedLoops } from '../transactions/without-nested-loops.ts';
import { lockListing, type ListingInHand } from './listing-in-hand.ts';

const atOnce = 1_000;

/**
 * Removes lines whose record has no row. Somebody deleted the row directly in the database, and the record is gone at the source too, because a
 * complete listing has brought back what is there. No comparison of records finds such lines, and sums over lines count them.
 */
export async function removeOrphans(warehouse: Warehouse, scope: ListingInHand): Promise<void> {
  if (scope.resource.children.length === 0) return;
  for (;;) {
    const found = await inTransaction(warehouse.pool, ({ client }) =>
      withoutNestedLoops(client, () => findOrphans(client, scope)),
    );
    if (found.length === 0) return;
    await inTransaction(warehouse.pool, ({ client }) => remove(client, { ...scope, found }));
  }
}

async function remove(
  client: PoolClient,
  { found, ...scope }: ListingInHand & { found: string[] },
): Promise<void> {
  const { connectionId, resource, runId } = scope;
  await lockListing(client, scope);
  const { landedAt } = await lockResource(client, { connectionId, resource: resource.name, runId });
  // A record found before the lock may have a row again.
  const ids = await findOrphans(client, scope, found);
  await removeChildren(client, { connectionId, resource, ids });
  await client.query(
    `insert into sync.discrepancies
       (connection_id, resource, record_id, kind, status, run_id, found_at, closed_at, closed_why)
     select $1, $2, id, 'damaged', 'repaired', $3, $4, $4, 'lines without their record were removed'
     from unnest($5::text[]) as orphan (id)`,
    [connectionId, resource.name, runId, landedAt, ids],
  );
}

/** Finds IDs of records without a row that have lines; `among` these, or the first of all. */
async function findOrphans(
  client: PoolClient,
  { connectionId, resource }: RecordScope,
  among: readonly string[] | null = null,
): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(findSql(resource), [connectionId, among]);
  return rows.map(({ id }) => id);
}

function findSql({ name, children }: Resource): string {
  const lists = children.map(
    ({ table, parentKey }) => `
      (
        select distinct ${parentKey} as id from finance.${table} line
        where line.connection_id = $1 and ($2::text[] is null or line.${parentKey} = any($2))
          and not exists (select from finance.${name} f where f.connection_id = $1 and f.id = line.${parentKey})
        limit ${atOnce}
      )`,
  );
  return `select id from (${lists.join('\n      union')}\n    ) orphan limit ${atOnce}`;
}
