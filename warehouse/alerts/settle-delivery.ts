import { sql } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';
import type { Delivery } from './claim-delivery.ts';

/** Whether the receiver got the message. `unknown`: it did not answer, but may have got it. */
export type DeliveryOutcome = 'delivered' | 'undelivered' | 'unknown';

/** Records the outcome of a delivery. Unless it was delivered for sure, it is retried after 5 seconds, then 10, up to a minute. */
export async function settleDelivery(
  { db }: Warehouse,
  { event, alert, tries }: Delivery,
  outcome: DeliveryOutcome,
): Promise<void> {
  const sentAt = event === 'open' ? 'open_sent_at' : 'resolved_sent_at';
  const again = sql<Date>`clock_timestamp() + least(60, 5 * 2 ^ least(${tries}::int - 1, 4)) * interval '1 second'`;
  await db
    .updateTable('sync.alerts')
    .set(outcome === 'delivered' ? { tries: 0, try_after: null } : { try_after: again })
    .$if(outcome === 'undelivered', (query) => query.set({ [sentAt]: null }))
    .where('id', '=', alert.id)
    .where('tries', '=', tries)
    .execute();
}
