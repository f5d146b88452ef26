import type { Warehouse } from '../open-warehouse.ts';

/** Twelve beats: a process may stall for a moment, and a run that is taken for dead too early is revived by its next beat. */
const silentFor = '1 minute';
/** Runs of releases before 0.6 do not beat. */
const withoutBeatFor = '1 hour';

/** Marks runs of commands as interrupted if they no longer beat: their process was killed, and nobody else would close them. */
export async function interruptSilentRuns({ pool }: Pick<Warehouse, 'pool'>): Promise<void> {
  await pool.query(
    `with silent as (
       update sync.runs set status = 'interrupted', finished_at = clock_timestamp()
       where status = 'running' and workflow_id = ''
         and coalesce(beat_at + interval '${silentFor}', started_at + interval '${withoutBeatFor}') < clock_timestamp()
       returning run_id
     )
     update sync.run_streams s set status = 'interrupted', finished_at = clock_timestamp()
     from silent
     where s.run_id = silent.run_id and s.status = 'running'`,
  );
}
