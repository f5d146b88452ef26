import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { ClientBase } from 'pg';
import { inTransaction } from '../transactions/in-transaction.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { createProcessWindow } from './process-window.ts';

export interface ApiBudget {
  /** Resolves when a request may be sent, at once; or, when that takes long, with how long none may. */
  take(signal?: AbortSignal): Promise<ApiGrant | { readonly silentMilliseconds: number }>;
  /** The service asked for silence: nobody's requests are allowed for so long, but for an hour at most. */
  reportRateLimited(milliseconds: number): Promise<void>;
}

/** Whom the service counts the requests of. */
export interface BudgetHolder {
  readonly apiAddress: string;
  readonly clientId: string;
}

/** Its key in `sync.api_budgets`. */
export function budgetKey({ apiAddress, clientId }: BudgetHolder): string {
  return createHash('sha256').update(`${apiAddress}\n${clientId}`).digest('hex').slice(0, 32);
}

export interface ApiGrant {
  /** To be called in the moment in which the request is written; when it returns false, the grant is too old for that. */
  redeem(): boolean;
  /** The request was answered or has failed, so that it will not arrive any later; or it was never written. */
  release(): void;
}

/**
 * Requests that every worker of the organisation shares, at most `requestsPer10s` in any 10 seconds.
 *
 * Every allowed request is a row, and a new one is allowed while fewer than that lie in the last 11 seconds. A token bucket
 * would be one number, but it lets its capacity through on top of its rate. Of the eleventh second, half is for the time
 * between a grant and its use, and half for the way to the service. One short transaction per request costs 1 % of what landing
 * its page costs.
 *
 * Half of them are let through as fast as they are asked for; the others are spread over the time until the first are allowed again. Else one
 * company that asks without end would use all at once, and everybody's next request, a person's too, would wait for many seconds.
 *
 * Somebody may hold a snapshot for an hour, and Postgres keeps for them every version that a row had meanwhile: so a grant writes
 * one new row and no old one, and what is deleted is never read again (`bench held-snapshot`).
 *
 * Times are Postgres's own, which may be set while requests are under way: a grant from the future counts as one of now, and the
 * requests of this process are counted once more by `monotonic`, in milliseconds, so that a clock set forward lets no process
 * send more.
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

  /** A grant, or the milliseconds to wait before the next try. */
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

  /** A grant is at most as old as the question for it; the answer may take long to arrive. */
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

/** The row is the lock. It is never written by those who only take: a row that is locked keeps its version. */
async function lockBudget(client: ClientBase, budget: string): Promise<void> {
  const lock = { name: 'lock budget', text: lockSql, values: [budget] };
  if ((await client.query(lock)).rowCount === 1) return;
  await client.query('insert into sync.api_budgets (budget) values ($1) on conflict do nothing', [budget]);
  await client.query(lock);
}

/** What the budget itself asks for is shorter; a silence that the service asked for is a timer's business, not an activity's. */
const longestWaitMilliseconds = 15_000;

/** Half of the eleventh second. */
const shortestLeadMilliseconds = 500;
const longestLeadMilliseconds = 4_000;

/**
 * How long a grant may be used. Where half a second is not enough, because Postgres or the process is slow, grants are used for
 * longer, and count as given that much later: otherwise every one would be too old, and nothing would ever be sent.
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
 * From when on expired grants are deleted: at first all, then every 10 seconds those that have expired since, for an index leads past
 * what was deleted and is kept for a snapshot. What is left when the clock of Postgres was set back goes with the next process.
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

/** So many, at least, are let through as fast as they are asked for. */
const burst = 100;

const lockSql = 'select from sync.api_budgets where budget = $1 for no key update';

/**
 * Runs after the lock, as a statement of its own, so that it sees what the last holder of the lock has committed.
 * No service asks for more than an hour of silence, so one that ends later is of a clock that was wrong, and is forgotten.
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
