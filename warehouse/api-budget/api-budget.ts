import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { ClientBase } from 'pg';
import { inTransaction } from '../transactions/in-transaction.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { createProcessWindow } from './process-window.ts';

export interface ApiBudget {
  /** Resolves as soon as a request may be sent; or, if that takes long, with the time during which none may be sent. */
  take(signal?: AbortSignal): Promise<ApiGrant | { readonly silentMilliseconds: number }>;
  /** Records that the service asked for silence: no process may send requests for this long, at most an hour. */
  reportRateLimited(milliseconds: number): Promise<void>;
}

/** The client whose requests the service counts together. */
export interface BudgetHolder {
  readonly apiAddress: string;
  readonly clientId: string;
}

/** Returns the holder's key in `sync.api_budgets`. */
export function budgetKey({ apiAddress, clientId }: BudgetHolder): string {
  return createHash('sha256').update(`${apiAddress}\n${clientId}`).digest('hex').slice(0, 32);
}

export interface ApiGrant {
  /** Call this at the moment the request is written. False: the grant is too old to be used. */
  redeem(): boolean;
  /** Call this once the request was answered or has failed, so that it cannot arrive any later, or if it was never written. */
  release(): void;
}

/**
 * Opens the request budget that all workers of the organization share: at most `requestsPer10s` in any 10 seconds.
 *
 * Every allowed request is a row, and a new one is allowed while fewer than the limit lie in the last 11 seconds. A token bucket would be one number,
 * but it lets its capacity through on top of its rate. Half of the eleventh second covers the time between a grant and its use, the other half the
 * way to the service. One short transaction per request costs 1 % of what landing its page costs.
 *
 * Half of the requests are granted as fast as they are asked for; the rest is spread over the time until the first grants expire. Otherwise one
 * company that asks without end would use the whole budget at once, and every other request, a person's too, would wait for many seconds.
 *
 * While a snapshot is held, perhaps for an hour, Postgres keeps every row version written meanwhile. A grant therefore writes one new row and updates
 * none, and deleted rows are never read again (`bench held-snapshot`).
 *
 * Times are those of Postgres, whose clock may be set while requests are under way: a grant from the future counts as one of now. The requests of
 * this process are counted a second time by `monotonic`, in milliseconds, so that a clock set forward lets no process send more.
 */
export function openApiBudget(
  warehouse: Warehouse,
  settings: BudgetHolder & { requestsPer10s: number; monotonic?: () => number },
): ApiBudget {
  const { requestsPer10s: limit, monotonic = () => performance.now() } = settings;
  const budget = budgetKey(settings);
  const ownRequests = createProcessWindow(limit, monotonic);
  const lead = createLead();
  const sweep = createSweep(monotonic);
  return {
    async take(signal) {
      for (;;) {
        signal?.throwIfAborted();
        const taken = await tryTake();
        if (typeof taken !== 'number') return taken;
        if (taken > longestWaitMilliseconds) return { silentMilliseconds: taken };
        await wait(Math.min(taken, 1000), undefined, { signal });
      }
    },
    async reportRateLimited(milliseconds) {
      await warehouse.pool.query(reportSql, [budget, milliseconds]);
    },
  };

  /** Returns a grant, or the milliseconds to wait before the next try. */
  async function tryTake(): Promise<ApiGrant | number> {
    const ownWait = ownRequests.waitMilliseconds();
    if (ownWait > 0) return ownWait;
    const request = ownRequests.begin();
    const leadMilliseconds = lead.milliseconds();
    try {
      const { askedAt, waitMilliseconds } = await ask(leadMilliseconds);
      if (waitMilliseconds > 0) {
        request.cancel();
        return waitMilliseconds;
      }
      return {
        redeem() {
          const inTime = monotonic() - askedAt <= leadMilliseconds;
          lead.learn(inTime);
          return inTime;
        },
        release() {
          request.end();
        },
      };
    } catch (error) {
      request.cancel();
      throw error;
    }
  }

  /** Measures the age of a grant from the moment it was asked for, because the answer may take long to arrive. */
  async function ask(leadMilliseconds: number): Promise<{ askedAt: number; waitMilliseconds: number }> {
    return inTransaction(warehouse.pool, async ({ client }) => {
      await lockBudget(client, budget);
      const askedAt = monotonic();
      const sweepFrom = sweep.from();
      const { rows } = await client.query<{ wait_ms: number; expired_until: string }>({
        name: 'take from budget',
        text: takeSql,
        values: [budget, limit, leadMilliseconds - shortestLeadMilliseconds, sweepFrom],
      });
      const { wait_ms: waitMilliseconds = 0, expired_until: until } = rows[0] ?? {};
      if (sweepFrom !== null && until !== undefined) sweep.done(until);
      return { askedAt, waitMilliseconds };
    });
  }
}

/** Locks the budget's row. Callers that only take never write the row, and locking it creates no new row version. */
async function lockBudget(client: ClientBase, budget: string): Promise<void> {
  const lock = { name: 'lock budget', text: lockSql, values: [budget] };
  if ((await client.query(lock)).rowCount === 1) return;
  await client.query('insert into sync.api_budgets (budget) values ($1) on conflict do nothing', [budget]);
  await client.query(lock);
}

/** Longer than any wait of the budget itself. A longer silence that the service asked for is left to a timer instead of blocking an activity. */
const longestWaitMilliseconds = 15_000;

/** Half of the eleventh second. */
const shortestLeadMilliseconds = 500;
const longestLeadMilliseconds = 4_000;

/**
 * How long a grant may be used. If Postgres or the process is too slow for half a second, grants are valid for longer and count as given that much
 * later. Otherwise every grant would be too old, and nothing would ever be sent.
 */
function createLead(): { milliseconds(): number; learn(inTime: boolean): void } {
  let milliseconds = shortestLeadMilliseconds;
  return {
    milliseconds: () => Math.round(milliseconds),
    learn(inTime) {
      milliseconds = inTime
        ? Math.max(milliseconds * 0.9, shortestLeadMilliseconds)
        : Math.min(milliseconds * 2, longestLeadMilliseconds);
    },
  };
}

/**
 * Decides from when on expired grants are deleted: at first all, then every 10 seconds those that expired since, because an index keeps entries of
 * deleted rows while a snapshot is held. Grants left when the clock of Postgres was set back go with the next process.
 */
function createSweep(monotonic: () => number): { from(): string | null; done(until: string): void } {
  let from = '-infinity';
  let due = -Infinity;
  return {
    from: () => (monotonic() >= due ? from : null),
    done(until) {
      from = until;
      due = monotonic() + 10_000;
    },
  };
}

/** At least this many requests are granted as fast as they are asked for. */
const burst = 100;

const lockSql = 'select from sync.api_budgets where budget = $1 for no key update';

/**
 * Runs after the lock as a separate statement, so that it sees what the last holder of the lock has committed. No service asks for more than an hour
 * of silence, so a silence that ends later came from a wrong clock and is cleared.
 */
const takeSql = `
  with now as materialized (
    select now, now + $3::int * interval '1 millisecond' as counts_from from clock_timestamp() as now
  ), expired as (
    delete from sync.api_grants using now
    where budget = $1 and granted_at <= now - interval '11 seconds'
      and granted_at > case when $4::timestamptz > now - interval '11 seconds' then '-infinity' else $4::timestamptz end
  ), corrected as (
    update sync.api_grants set granted_at = now from now where budget = $1 and granted_at > now + interval '4 seconds'
  ), forgotten as (
    update sync.api_budgets set blocked_until = null from now
    where budget = $1 and blocked_until > now + interval '1 hour'
  ), recent as materialized (
    select case when granted_at > now + interval '4 seconds' then now else granted_at end as granted_at
    from sync.api_grants, now
    where budget = $1 and granted_at > now - interval '11 seconds'
  ), used as materialized (
    select count(*) as requests, min(granted_at) + interval '11 seconds' as renewed_at, max(granted_at) as last_at from recent
  ), wait as materialized (
    select greatest(
      case when blocked_until <= now + interval '1 hour' then extract(epoch from blocked_until - now) end,
      case
        when requests >= $2 then extract(epoch from renewed_at - now)
        when requests >= greatest($2 / 2, ${burst}) then extract(epoch from last_at + (renewed_at - now) / ($2 - requests) - counts_from)
      end,
      0
    ) * 1000 as ms
    from sync.api_budgets, now, used
    where budget = $1
  ), granted as (
    insert into sync.api_grants (budget, granted_at)
    select $1, counts_from from now, wait where ms = 0
  )
  select ceil(ms)::int as wait_ms, (now - interval '11 seconds')::text as expired_until from wait, now`;

const reportSql = `
  insert into sync.api_budgets as had (budget, blocked_until)
  values ($1, clock_timestamp() + least($2::float8, 3600000) * interval '1 millisecond')
  on conflict (budget) do update set blocked_until = greatest(
    case when had.blocked_until <= clock_timestamp() + interval '1 hour' then had.blocked_until end, excluded.blocked_until
  )`;
