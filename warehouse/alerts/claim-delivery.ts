import { sql } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';
import type { Alert } from './read-alerts.ts';

/** A claimed alert, to be delivered. */
export interface Delivery {
  readonly event: 'open' | 'resolve';
  readonly alert: Alert;
  /** Identifies the claim, so that an outcome reported too late changes nothing. */
  readonly tries: number;
}

/**
 * Claims the next delivery for the caller alone; undefined if nothing is due. Alerts that were never tried come first, the oldest before the others,
 * then those that have been due longest, so alerts that a receiver keeps refusing delay no new one. An alert that was over before it was delivered is
 * never delivered. A claim expires after 15 seconds, three times what a delivery may take, in case its holder died. The alert may then be delivered
 * twice.
 */
export async function claimDelivery({ db }: Warehouse): Promise<Delivery | undefined> {
  const { rows } = await sql<Alert & { tries: number }>`
    with due as (
      select id from sync.alerts
      -- In the words of the index alerts_to_send_idx.
      where (
          resolved_at is null and (open_sent_at is null or try_after is not null)
          or resolved_at is not null and open_sent_at is not null and (resolved_sent_at is null or try_after is not null)
        )
        and (try_after is null or try_after <= clock_timestamp())
      order by try_after nulls first, coalesce(resolved_at, opened_at), id
      limit 1
      for update skip locked
    )
    update sync.alerts a set
      open_sent_at = case when resolved_at is null then clock_timestamp() else open_sent_at end,
      resolved_sent_at = case when resolved_at is not null then clock_timestamp() end,
      tries = tries + 1,
      try_after = clock_timestamp() + interval '15 seconds'
    from due
    where a.id = due.id
    returning a.id, kind, connection_id, message, remedy, opened_at, resolved_at, tries
  `.execute(db);
  const [claimed] = rows;
  if (claimed === undefined) return undefined;
  const { tries, ...alert } = claimed;
  return { event: alert.resolved_at === null ? 'open' : 'resolve', alert, tries };
}
