import { streamsOf } from '../../resources/streams-of.ts';
import type { Warehouse } from '../open-warehouse.ts';
import type { RunScope } from '../record-scope.ts';

/**
 * Whether this run has listed every stream of the resource to its end `listings` times, or has proved it already. After a reset, the history may say
 * so of another run, whose listing is gone.
 */
export async function isListed(
  { pool }: Warehouse,
  { connectionId, resource, runId, listings }: RunScope & { listings: number },
): Promise<boolean> {
  const { rows } = await pool.query<{ listed: boolean }>(
    `select bool_and(p.completed_at is not null and p.listing >= $4 or s.totals is not null) is true as listed
     from unnest($2::text[]) as wanted (stream)
     left join sync.passes p
       on p.connection_id = $1 and p.stream = wanted.stream and p.kind = 'reconcile' and p.run_id = $3
     left join sync.run_streams s on s.run_id = $3 and s.stream = wanted.stream`,
    [connectionId, streamsOf(resource), runId, listings],
  );
  return rows[0]?.listed ?? false;
}
