import type { PoolClient } from 'pg';
import type { Warehouse } from '../open-warehouse.ts';
import type { RecordScope } from '../record-scope.ts';
import { isDeletion, type TakenWebhook } from './waiting-webhooks.ts';

/** Closes waiting webhooks with their outcome, except those that were delivered again since they were taken. */
export async function closeWebhooks(
  client: PoolClient | Warehouse['pool'],
  input: {
    webhooks: readonly TakenWebhook[];
    status: 'applied' | 'ignored';
    outcome: string;
    /** The run that applied the webhooks. */
    runId: string | null;
  },
): Promise<void> {
  const { webhooks, status, outcome, runId } = input;
  await client.query({
    name: 'close webhooks',
    text: `
      update sync.webhook_inbox w set
        status = $2, outcome = $3, run_id = $4, try_after = null, closed_at = clock_timestamp()
      from jsonb_to_recordset($1) as taken (id bigint, deliveries bigint)
      where w.id = taken.id and w.deliveries = taken.deliveries and w.status = 'waiting'`,
    values: [JSON.stringify(webhooks), status, outcome, runId],
  });
}

/**
 * Closes webhooks about versions older than those held, and about the very versions held if a list was requested since. An equal version alone proves
 * nothing: its content may have been corrected.
 */
export async function closeKnown(
  { pool }: Warehouse,
  { connectionId, resource }: RecordScope,
): Promise<void> {
  await pool.query({
    name: `close known ${resource.name}`,
    text: `
      update sync.webhook_inbox w set
        status = 'applied', outcome = 'a list, or a later webhook, has brought this version or a newer one',
        try_after = null, closed_at = clock_timestamp()
      where w.connection_id = $1 and w.resource = '${resource.name}' and w.status = 'waiting' and not ${isDeletion('w')}
        and (
          -- One look-up for each of them, however it is planned.
          select f.${resource.version} > w.version or (f.${resource.version} = w.version and w.outcome is not null)
          from finance.${resource.name} f
          where f.connection_id = $1 and f.id = w.record_id
        )`,
    values: [connectionId],
  });
}

/** Tries are counted up to this number. */
export const mostTries = 30;

/** Delays webhooks: 2 s at first, then twice the last delay, up to 20 s, so that none waits longer when an outage ends. At least `milliseconds`. */
export async function putOffWebhooks(
  { pool }: Warehouse,
  { webhooks, milliseconds }: { webhooks: readonly TakenWebhook[]; milliseconds: number },
): Promise<void> {
  await pool.query({
    name: 'put off webhooks',
    text: `
      update sync.webhook_inbox set
        tries = least(tries + 1, ${mostTries}),
        try_after = clock_timestamp() + greatest(
          least(power(2, tries + 1), 20) * interval '1 second',
          $2 * interval '1 millisecond'
        )
      where id = any($1::bigint[]) and status = 'waiting'`,
    values: [webhooks.map(({ id }) => id), Math.ceil(milliseconds)],
  });
}

/** Delays the waiting webhooks of a resource; those that arrive later are not delayed. */
export async function putOffResource(
  { pool }: Warehouse,
  { connectionId, resource, milliseconds }: RecordScope & { milliseconds: number },
): Promise<void> {
  await pool.query({
    name: 'put off resource',
    text: `
      update sync.webhook_inbox set
        try_after = greatest(try_after, clock_timestamp() + $3 * interval '1 millisecond')
      where connection_id = $1 and resource = $2 and status = 'waiting'`,
    values: [connectionId, resource.name, Math.ceil(milliseconds)],
  });
}
