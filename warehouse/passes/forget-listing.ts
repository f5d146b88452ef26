import type { PoolClient } from 'pg';
import type { PassInHand } from './pass.ts';

/**
 * Deletes what a reconcile's listing of a stream has shown so far. It begins again at `landedAt`, in the order of writes, so that no earlier write is
 * newer than it. A second listing keeps the beginning of the first, whose findings it judges, and the time at which the first was answered.
 */
export async function forgetListing(
  client: PoolClient,
  { pass, landedAt }: { pass: PassInHand; landedAt: string },
): Promise<void> {
  const where = [pass.connectionId, pass.stream, pass.part];
  await client.query(
    `delete from sync.listed_pages l
     using sync.passes p
     where l.connection_id = $1 and l.stream = $2 and p.connection_id = $1 and p.stream = $2
       and p.kind = 'reconcile' and p.part = $3 and l.listing = p.listing`,
    where,
  );
  await client.query(
    `update sync.passes set
       started_at = case when listing = 1 then $4 else started_at end,
       served_until = null,
       answered_from = null,
       answered_at = case when listing > 1 then answered_at end,
       stood_still_seconds = case when listing > 1 then stood_still_seconds else 0 end
     where connection_id = $1 and stream = $2 and kind = 'reconcile' and part = $3`,
    [...where, landedAt],
  );
}
