import type { Source } from './source.ts';
import type { Harness } from './harness.ts';
import { InvariantViolation } from './invariant-checker.ts';

/** Judges that deletions of records that a listing did not show were few, or were approved. */
export async function judgeDeletions(end: {
  harness: Harness;
  connection: string;
  source: Source;
}): Promise<void> {
  const { harness, connection, source } = end;
  for (const resource of source.listed) {
    const { rows } = await harness.watcher.query<{ run_id: string; deleted: number; held: number }>(
      `select v.run_id, count(*)::int as deleted,
         greatest(
           (select count(*) from finance.${resource} where connection_id = $1)
             + (select count(*) from history.record_versions o where o.connection_id = $1 and o.resource = $2 and o.op = 'delete'
                and o.recorded_at >= min(v.recorded_at)),
           -- Somebody may have deleted rows of finance since.
           (select count(*) from (
              select distinct on (record_id) op from history.record_versions o
              where o.connection_id = $1 and o.resource = $2 and o.recorded_at < min(v.recorded_at)
              order by record_id, recorded_at desc
            ) as before where op <> 'delete')
         )::int as held
       from history.record_versions v
       join sync.runs r on r.run_id = v.run_id and r.kind = 'reconcile' and r.reason <> 'approved'
       where v.connection_id = $1 and v.resource = $2 and v.op = 'delete'
       group by v.run_id`,
      [connection, resource],
    );
    for (const { deleted, held } of rows) {
      if (deleted > 1 && deleted >= held)
        throw new InvariantViolation(`All ${deleted} ${resource} were deleted, and nobody had approved it.`);
      if (deleted > 50 && deleted > 0.2 * held)
        throw new InvariantViolation(
          `${deleted} of ${held} ${resource} were deleted, and nobody had approved it.`,
        );
    }
  }
}
