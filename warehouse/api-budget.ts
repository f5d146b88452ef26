import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { inTransaction } from './in-transaction.ts';
import type { Warehouse } from './open-warehouse.ts';

export interface ApiBudget {
  /** Resolves when a request may be sent, at once; or, with the time before which none may, when that is long. */
  take(signal?: AbortSignal): Promise<Date | undefined>;
  /** The service asked for silence: nobody's requests are allowed before. */
  reportRateLimited(notBefore: Date): Promise<void>;
}

/**
 * Requests that every worker of the organisation shares, at most `requestsPer10s` in any 10 seconds.
 *
 * Every allowed request is a row, and a new one is allowed while fewer than that lie in the last 11 seconds. A token bucket
 * would be one number, but it lets its capacity through on top of its rate; the eleventh second is for requests that
 * reach the service later than they were allowed. One short transaction per request costs 1 % of what landing its page costs.
 */
export function openApiBudget(
  warehouse: Warehouse,
  settings: { apiAddress: string; clientId: string; requestsPer10s: number },
): ApiBudget {
  const budget = createHash('sha256')
    .update(`${settings.apiAddress}\n${settings.clientId}`)
    .digest('hex')
    .slice(0, 32);
  return {
    async take(signal) {
      for (;;) {
        signal?.throwIfAborted();
        const waitMilliseconds = await tryTake(warehouse, { budget, limit: settings.requestsPer10s });
        if (waitMilliseconds === 0) return undefined;
        if (waitMilliseconds > longestWaitMilliseconds) return new Date(Date.now() + waitMilliseconds);
        await wait(Math.min(waitMilliseconds, 1000), undefined, { signal });
      }
    },
    async reportRateLimited(notBefore) {
      await warehouse.pool.query(
        `insert into sync.api_budgets (budget, blocked_until) values ($1, $2)
         on conflict (budget) do update set blocked_until = greatest(sync.api_budgets.blocked_until, excluded.blocked_until)`,
        [budget, notBefore],
      );
    },
  };
}

/** What the budget itself asks for is shorter; a silence that the service asked for is a timer's business, not an activity's. */
const longestWaitMilliseconds = 15_000;

/** Milliseconds to wait before the next try; 0 when the request is allowed. */
async function tryTake(warehouse: Warehouse, input: { budget: string; limit: number }): Promise<number> {
  return inTransaction(warehouse.pool, async (client) => {
    await client.query({
      name: 'lock budget',
      text: `insert into sync.api_budgets (budget) values ($1) on conflict (budget) do update set budget = excluded.budget`,
      values: [input.budget],
    });
    const { rows } = await client.query<{ wait_ms: number }>({
      name: 'take from budget',
      text: takeSql,
      values: [input.budget, input.limit],
    });
    return rows[0]?.wait_ms ?? 0;
  });
}

/** Runs after the lock, as a statement of its own, so that it sees what the last holder of the lock has committed. */
const takeSql = `
  with now as materialized (
    select clock_timestamp() as now
  ), expired as (
    delete from sync.api_grants using now where budget = $1 and granted_at <= now - interval '11 seconds'
  ), recent as materialized (
    select granted_at from sync.api_grants, now where budget = $1 and granted_at > now - interval '11 seconds'
  ), wait as materialized (
    select greatest(
      extract(epoch from blocked_until - now),
      case when (select count(*) from recent) >= $2
        then extract(epoch from (select min(granted_at) from recent) + interval '11 seconds' - now)
      end,
      0
    ) * 1000 as ms
    from sync.api_budgets, now
    where budget = $1
  ), granted as (
    insert into sync.api_grants (budget, granted_at) select $1, now from now, wait where ms = 0
  )
  select ceil(ms)::int as wait_ms from wait`;
