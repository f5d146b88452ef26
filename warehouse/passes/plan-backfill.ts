import { sql, type RawBuilder } from 'kysely';
import { inTransaction } from '../transactions/in-transaction.ts';
import { streamNamed } from '../../resources/index.ts';
import type { Warehouse } from '../open-warehouse.ts';
import type { BackfillPlan } from './backfill-plan.ts';
import { isOfPlan } from './backfill-windows.ts';
import { unlessRemoved } from '../runs/unless-removed.ts';
import { openStreams } from './open-streams.ts';

/**
 * Opens a pass for each window of each stream. If windows of the same plan are left from an unfinished run that ended less than a week ago, only
 * those are to be done, and no others are opened; what was read longer ago says little about today. Such windows of other
 * plans are deleted too: a schedule asks for other days each time, and nobody would continue them. A run that was ended from outside counts from its
 * beginning. A run that began or ended in the future, because a clock was ahead, does not count, since its time is unknown. Throws
 * ConnectionReplaced.
 */
export async function planBackfill(
  { pool }: Warehouse,
  input: { connectionId: string; runId: string; plan: BackfillPlan },
): Promise<void> {
  const { connectionId, runId, plan } = input;
  await inTransaction(pool, async ({ db }) => {
    const streams = plan.streams.map((stream) => ({ stream, resource: streamNamed(stream).resource }));
    await unlessRemoved(connectionId, () => openStreams(db, { connectionId, streams }));
    await sql`
      delete from sync.passes p
      where connection_id = ${connectionId} and kind = 'backfill' and (${isOfPlan(plan.name)} or not exists (
        select from sync.runs r where r.run_id = p.run_id and r.finished_at is null
      )) and not exists (
        select from sync.runs r
        where r.run_id = p.run_id and (r.run_id = ${runId} or clock_timestamp() - interval '7 days' < case
          -- It was ended from outside, nobody knows when, and is closed since this one began.
          when r.status = 'interrupted' and exists (
            select from sync.runs mine
            where mine.run_id = ${runId} and (r.finished_at >= mine.started_at or mine.started_at > clock_timestamp())
          ) then r.started_at
          else coalesce(r.finished_at, 'infinity')
        end and greatest(r.started_at, r.finished_at) <= clock_timestamp())
      )
    `.execute(db);
    await sql`
      update sync.passes set run_id = ${runId}, restarts = 0, failing_since = null
      where connection_id = ${connectionId} and kind = 'backfill' and ${isOfPlan(plan.name)} and run_id <> ${runId}
    `.execute(db);
    await sql`
      insert into sync.passes (connection_id, stream, kind, part, run_id, lease, floor, ceiling)
      select ${connectionId}, stream, 'backfill',
        ${plan.name} || '/' || to_char(floor, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        ${runId}, 'planned', floor, ceiling
      from unnest(${plan.streams}::text[]) as stream, ${selectWindows(plan)}
      where not exists (
        select from sync.passes
        where connection_id = ${connectionId} and kind = 'backfill' and ${isOfPlan(plan.name)}
      )
      on conflict do nothing
    `.execute(db);
    // Streams that were completed earlier get a row too: without one, the plan itself was lost, and nothing was read.
    await sql`
      insert into sync.run_streams (run_id, connection_id, stream, status)
      select ${runId}, ${connectionId}, stream, 'running'
      from unnest(${plan.streams}::text[]) as stream
      where not exists (
        select from sync.passes p
        where connection_id = ${connectionId} and kind = 'backfill' and p.stream = stream.stream and ${isOfPlan(plan.name)}
      )
      on conflict do nothing
    `.execute(db);
  });
}

/**
 * Both ends of the API's filter are inclusive, so a window shares its last millisecond with the next one: a record in between is read twice, and
 * never missed. The end of the last window does not belong to the backfill.
 */
function selectWindows({ from, to, windowMilliseconds, windows }: BackfillPlan): RawBuilder<unknown> {
  return sql`
    generate_series(0, ${windows}::integer - 1) as place
    cross join lateral (
      select ${from}::timestamptz + place * length as floor,
        least(
          ${from}::timestamptz + (place + 1) * length,
          ${to}::timestamptz - interval '1 millisecond'
        ) as ceiling
      from (select ${windowMilliseconds}::bigint * interval '1 millisecond' as length) step
    ) bounds`;
}
