import { isDatabaseAway } from '../session/is-database-away.ts';
import type { Warehouse } from '../open-warehouse.ts';

export interface Beating {
  /** Stops with a last beat: before the run is closed, or when it is left open. Throws the error of a beat, unless the database was out of reach. */
  stop(): Promise<void>;
}

/** See `silentFor` in `interrupt-silent-runs.ts`. */
const everyMilliseconds = 5_000;

/**
 * Makes a run without a workflow signal from now on that it is alive. A run that was taken for dead, because its process stalled, is revived by its
 * next beat. A beat that fails because the database is out of reach is dropped: the work of the run meets the same database.
 */
export function keepBeating({ pool }: Pick<Warehouse, 'pool'>, runId: string): Beating {
  let last = Promise.resolve();
  let defect: Error | undefined;
  let stopped = false;
  const beat = async (): Promise<void> => {
    try {
      await pool.query({ name: 'beat', text: beatSql, values: [runId] });
    } catch (error) {
      if (!isDatabaseAway(error)) defect ??= new Error('A beat of a run failed.', { cause: error });
    }
  };
  const timer = setInterval(() => {
    last = last.then(beat);
  }, everyMilliseconds);
  return {
    async stop() {
      if (!stopped) last = last.then(beat);
      stopped = true;
      clearInterval(timer);
      await last;
      if (defect !== undefined) throw defect;
    },
  };
}

const beatSql = `
  with alive as (
    update sync.runs set status = 'running', finished_at = null, beat_at = clock_timestamp()
    where run_id = $1 and status in ('running', 'interrupted')
    returning run_id
  )
  update sync.run_streams s set status = 'running', finished_at = null
  from alive
  where s.run_id = alive.run_id and s.status = 'interrupted'`;
