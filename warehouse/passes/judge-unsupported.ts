import { sql } from 'kysely';
import { othersAnswer } from './others-answer.ts';
import type { Warehouse } from '../open-warehouse.ts';

/**
 * Judges, at the end of a run, the lists that answered 404 and never returned a page. If another list answered, the platform is known for a day to
 * lack the list. If none did, as behind a gateway that lost its routes, nothing was learned, and the next run requests it again; the same holds for a
 * run that was ended from outside. A run that read nothing else relies on what other runs of the day read. A list whose records a fetch has shown
 * since is not judged any more (`noteOffered`).
 */
export async function judgeUnsupported(db: Warehouse['db'], runId: string): Promise<void> {
  await sql`
    with asked as (
      select s.connection_id, s.stream, a.requests > 0 as is_new,
        exists (select from sync.run_streams read where read.run_id = a.run_id and read.pages > 0)
          or ${othersAnswer} and not exists (
            select from sync.run_streams other where other.run_id = a.run_id and other.status <> 'unsupported'
          ) as is_known
      from sync.run_streams a
      join sync.streams s using (connection_id, stream)
      where a.run_id = ${runId} and a.status = 'unsupported' and s.listed_at is null
    )
    update sync.streams s set
      capability = case when is_known then 'unsupported' else 'unknown' end,
      capability_checked_at = case when not is_known then null when is_new then clock_timestamp() else capability_checked_at end
    from asked
    where s.connection_id = asked.connection_id and s.stream = asked.stream
  `.execute(db);
}

/** Whether a run, once judged, met nothing but lists that are known not to be offered. */
export async function areUnsupported(
  db: Warehouse['db'],
  { runId, outcomes }: { runId: string; outcomes: readonly { stream: string; state: string }[] },
): Promise<boolean> {
  if (outcomes.length === 0 || outcomes.some(({ state }) => state !== 'unsupported')) return false;
  const known = await db
    .selectFrom('sync.streams as s')
    .innerJoin('sync.runs as r', 'r.connection_id', 's.connection_id')
    .select('s.stream')
    .where('r.run_id', '=', runId)
    .where('s.capability', '=', 'unsupported')
    .execute();
  return outcomes.every(({ stream }) => known.some((one) => one.stream === stream));
}
