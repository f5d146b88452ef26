import type { PoolClient } from 'pg';
import { streamsOf } from '../../resources/streams-of.ts';
import type { RunScope } from '../record-scope.ts';

export interface Standstill {
  /** This run has read every list of the resource to its end. */
  complete: boolean;
  /** Records shown before the standstill may be gone. */
  tooLong: boolean;
  /** How often the run has restarted the resource because of that. */
  begunAgain: number;
}

/**
 * Returns how long a listing may go without an answer: as long as a list may lag, and at least ten minutes, because a service may ask for a pause.
 * The total time does not matter: a large resource takes hours.
 */
export function mayStandStillSeconds(lookbackMilliseconds: number): number {
  return Math.max(lookbackMilliseconds / 1_000, 600);
}

/**
 * Reads whether the run's listing of a resource stood still. It did not if no answer to any of its lists, to its second listing or to its fetches
 * came long after the previous one, and the latest is recent.
 */
export async function readStandstill(
  client: PoolClient,
  input: RunScope & { lookbackMilliseconds: number },
): Promise<Standstill> {
  const { connectionId, resource, runId, lookbackMilliseconds } = input;
  const { rows } = await client.query<Standstill>(
    `with listing as (
       select completed_at, stood_still_seconds, answered_before, begun_again, served_from, served_until,
         -- A worker of 0.5.0 has read pages, and noted no answer.
         coalesce(answered_from, case when pages > 0 then started_at end) as answered_from,
         coalesce(answered_at, case when pages > 0 then coalesce(completed_at, started_at) end) as answered_at
       from sync.passes
       where connection_id = $1 and stream = any($2::text[]) and kind = 'reconcile' and run_id = $3
     ), answered (clock, "from", until) as (
       select 'service', served_from, served_until from listing
       union all
       select 'service', max(answered_before), max(answered_before) from listing
       union all
       select 'database', answered_from, answered_at from listing
     ), apart as (
       -- Lists are read side by side, so time counts only where none of them was answered.
       select "from" - max(until) over (
         partition by clock order by "from", until rows between unbounded preceding and 1 preceding
       ) as apart
       from answered
     )
     select count(completed_at) = cardinality($2::text[]) as complete,
       coalesce(greatest(
         max(stood_still_seconds),
         extract(epoch from (select max(apart) from apart)),
         extract(epoch from clock_timestamp() - max(answered_at))
       ) > $4::float8, false) as "tooLong",
       coalesce(max(begun_again), 0)::int as "begunAgain"
     from listing`,
    [connectionId, streamsOf(resource), runId, mayStandStillSeconds(lookbackMilliseconds)],
  );
  return rows[0] ?? { complete: false, tooLong: false, begunAgain: 0 };
}
