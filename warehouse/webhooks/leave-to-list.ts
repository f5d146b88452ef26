import { inTransaction } from '../transactions/in-transaction.ts';
import type { Warehouse } from '../open-warehouse.ts';
import type { RecordScope } from '../record-scope.ts';
import { withoutNestedLoops } from '../transactions/without-nested-loops.ts';
import { isDeletion, listsTried } from './waiting-webhooks.ts';

/**
 * Leaves the waiting webhooks of a resource to a list that is about to be read, except those of deleted records, which no list shows. Webhooks that
 * the list does not settle are retried when the sync has ended, or after a minute.
 */
export async function leaveToList(
  { pool }: Warehouse,
  { connectionId, resource }: RecordScope,
): Promise<void> {
  await inTransaction(pool, ({ client }) =>
    withoutNestedLoops(client, () =>
      client.query({
        name: 'leave to list',
        text: `
      update sync.webhook_inbox w set
        outcome = 'left to the next list', tries = tries + 1, try_after = clock_timestamp() + interval '1 minute'
      where w.connection_id = $1 and w.resource = $2 and w.status = 'waiting' and not ${isDeletion('w')}
        and w.tries < ${listsTried}
        and not exists (
          select from sync.webhook_inbox d
          where d.connection_id = $1 and d.resource = $2 and d.record_id = w.record_id and d.status = 'waiting'
            and ${isDeletion('d')}
        )`,
        values: [connectionId, resource.name],
      }),
    ),
  );
}

/** Makes webhooks due that a successful sync's lists have not settled. */
export async function listsWereRead({ pool }: Pick<Warehouse, 'pool'>, connectionId: string): Promise<void> {
  await pool.query({
    name: 'lists were read',
    text: `
      update sync.webhook_inbox set try_after = null
      where connection_id = $1 and status = 'waiting' and try_after is not null`,
    values: [connectionId],
  });
}
