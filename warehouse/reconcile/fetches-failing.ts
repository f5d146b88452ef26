import type { PoolClient } from 'pg';
import type { Warehouse } from '../open-warehouse.ts';
import type { RunScope } from '../record-scope.ts';

/** Notes that a fetch of an undecided record failed, and returns for how long its fetches have kept failing, in milliseconds. */
export async function noteFetchFailing(
  { pool }: Warehouse,
  { connectionId, resource, runId }: RunScope,
  recordId: string,
): Promise<number> {
  const { rows } = await pool.query<{ failing_ms: number }>(
    // As in `noteFailing`.
    `update sync.discrepancies set failing_since = least(failing_since, clock_timestamp())
     where connection_id = $1 and resource = $2 and run_id = $3 and record_id = $4 and status = 'checking'
       and closed_at is null
     returning (extract(epoch from clock_timestamp() - failing_since) * 1000)::bigint as failing_ms`,
    [connectionId, resource.name, runId, recordId],
  );
  return rows[0]?.failing_ms ?? 0;
}

/** Leaves a record undecided: this run does not request it any more, and the next one decides. */
export async function leaveUndecided(
  client: Warehouse['pool'] | PoolClient,
  { connectionId, resource, runId }: RunScope,
  recordId: string,
): Promise<void> {
  await client.query(
    `update sync.discrepancies set shown_by = $3
     where connection_id = $1 and resource = $2 and run_id = $3 and record_id = $4 and status = 'checking'
       and closed_at is null`,
    [connectionId, resource.name, runId, recordId],
  );
}

/**
 * Returns IDs of some records that the service should answer for: those that the listing showed or, if it showed none, others that it did not show.
 */
export async function idsToCompare(
  { pool }: Pick<Warehouse, 'pool'>,
  { connectionId, resource, runId }: RunScope,
  { listed, except }: { listed: readonly string[]; except: string },
): Promise<string[]> {
  const alive = listed.filter((id) => id !== except);
  if (alive.length > 0) return alive;
  const { rows } = await pool.query<{ id: string }>(
    `select record_id as id from sync.discrepancies
     where connection_id = $1 and resource = $2 and run_id = $3 and record_id <> $4 and kind = 'extra'
     limit 10`,
    [connectionId, resource.name, runId, except],
  );
  return rows.map(({ id }) => id);
}
