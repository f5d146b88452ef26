import { sql } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';
import { afterLastWrite } from '../clock/resource-clock.ts';
import type { Listed, PassInHand } from './pass.ts';

/** The stored state of a pass, its times in Unix milliseconds. */
export interface OpenPass {
  cursor: string | null;
  floor_ms: number | null;
  ceiling_ms: number | null;
  served_until_ms: number | null;
  highest_ms: number | null;
  restarts: number;
  stood_still_in: string | null;
  completed: boolean;
}

type Opening = (
  db: Warehouse['db'],
  input: { pass: PassInHand; resource: Listed; lookbackMilliseconds: number; began: string | null },
) => Promise<OpenPass | undefined>;

/** By kind: begins or continues a pass, and takes its lease. Undefined: the window of a backfill is done. */
export const openPass: Record<PassInHand['kind'], Opening> = {
  async sync(db, { pass, resource, lookbackMilliseconds }) {
    const isOrdered = resource.version === 'last_synced_at';
    const goesOn = sql`(${isOrdered} or sync.passes.run_id = excluded.run_id)`;
    const { rows } = await sql<OpenPass>`
      insert into sync.passes (connection_id, stream, kind, run_id, lease, floor, started_at, asked_at)
      select ${pass.connectionId}, ${pass.stream}, 'sync', ${pass.runId}, ${pass.lease},
        watermark - ${lookbackMilliseconds} * interval '1 millisecond', now.at, now.at
      from (select ${afterLastWrite(pass.connectionId, resource.name)} as at) now, sync.streams
      where connection_id = ${pass.connectionId} and stream = ${pass.stream}
      on conflict (connection_id, stream, kind, part) do update set
        restarts = case when sync.passes.run_id = excluded.run_id then sync.passes.restarts else 0 end,
        cursor = case when ${goesOn} then sync.passes.cursor end,
        served_from = case when ${goesOn} then sync.passes.served_from end,
        failing_since = case when sync.passes.run_id = excluded.run_id then sync.passes.failing_since end,
        run_id = excluded.run_id,
        lease = excluded.lease,
        asked_at = excluded.asked_at
      returning ${place}
    `.execute(db);
    return rows[0];
  },
  async reconcile(db, { pass, resource, began }) {
    await sql`
      with old as (
        delete from sync.passes
        where connection_id = ${pass.connectionId} and stream = ${pass.stream} and kind = 'reconcile'
          and run_id <> ${pass.runId}
      )
      delete from sync.listed_pages
      where connection_id = ${pass.connectionId} and stream = ${pass.stream}
        and not exists (
          select from sync.passes
          where connection_id = ${pass.connectionId} and stream = ${pass.stream} and kind = 'reconcile'
            and run_id = ${pass.runId}
        )
    `.execute(db);
    const { rows } = await sql<OpenPass>`
      insert into sync.passes (connection_id, stream, kind, run_id, lease, started_at, asked_at)
      values (
        ${pass.connectionId}, ${pass.stream}, 'reconcile', ${pass.runId}, ${pass.lease},
        coalesce(${began}::timestamptz, clock_timestamp()), ${afterLastWrite(pass.connectionId, resource.name)}
      )
      on conflict (connection_id, stream, kind, part) do update set lease = excluded.lease, asked_at = excluded.asked_at
      returning ${place}
    `.execute(db);
    return rows[0];
  },
  async backfill(db, { pass, resource }) {
    const { rows } = await sql<OpenPass>`
      update sync.passes set
        restarts = case when run_id = ${pass.runId} then restarts else 0 end,
        failing_since = case when run_id = ${pass.runId} then failing_since end,
        run_id = ${pass.runId},
        lease = ${pass.lease},
        asked_at = ${afterLastWrite(pass.connectionId, resource.name)}
      where connection_id = ${pass.connectionId} and stream = ${pass.stream} and kind = 'backfill'
        and part = ${pass.part}
      returning ${place}
    `.execute(db);
    return rows[0];
  },
};

/** The columns of the row as it is stored now, not those of `excluded`. */
const place = sql`
  cursor,
  floor(extract(epoch from floor) * 1000)::bigint as floor_ms,
  ceil(extract(epoch from ceiling) * 1000)::bigint as ceiling_ms,
  floor(extract(epoch from served_until) * 1000)::bigint as served_until_ms,
  floor(extract(epoch from highest_seen) * 1000)::bigint as highest_ms,
  restarts,
  stood_still_in,
  completed_at is not null as completed`;
