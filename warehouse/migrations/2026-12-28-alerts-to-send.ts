import type { ConcurrentIndex } from './migration.ts';

/** Every few seconds each process looks which alerts are to be sent: an outage leaves tens of thousands that are not. */
export const indexes: readonly ConcurrentIndex[] = [
  {
    table: 'sync.alerts',
    name: 'alerts_to_send_idx',
    // As `claim-delivery.ts` asks.
    on: `(try_after, id)
      where resolved_at is null and (open_sent_at is null or try_after is not null)
        or resolved_at is not null and open_sent_at is not null and (resolved_sent_at is null or try_after is not null)`,
  },
];
