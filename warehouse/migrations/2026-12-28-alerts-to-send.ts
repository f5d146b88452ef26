import type { ConcurrentIndex } from './migration.ts';

/** Each process looks for alerts to send every few seconds, and an outage leaves tens of thousands that are not to be sent. */
export const indexes: readonly ConcurrentIndex[] = [
  {
    table: 'sync.alerts',
    name: 'alerts_to_send_idx',
    // The condition of `claim-delivery.ts`.
    on: `(try_after, id)
      where resolved_at is null and (open_sent_at is null or try_after is not null)
        or resolved_at is not null and open_sent_at is not null and (resolved_sent_at is null or try_after is not null)`,
  },
];
