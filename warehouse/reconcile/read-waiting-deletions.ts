import { resources } from '../../resources/index.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { streamsOf } from './streams-of.ts';

/** Records of a resource that a stopped reconcile found gone at the source, and that leave `finance` when a person approves. */
export interface WaitingDeletions {
  connection_id: string;
  resource: string;
  /** The reconcile that found them, and asked. */
  run_id: string;
  records: number;
}

/**
 * Of all connections, or of one. Only what a reconcile has stopped for: one that still confirms what is absent, or was ended
 * before it could ask, has asked nothing. After that its findings only grow fewer, so run and count name them.
 */
export async function readWaitingDeletions(
  { pool }: Pick<Warehouse, 'pool'>,
  { connectionId }: { connectionId?: string | undefined },
): Promise<WaitingDeletions[]> {
  const streams = resources.flatMap((resource) =>
    streamsOf(resource).map((stream) => ({ stream, resource: resource.name })),
  );
  const { rows } = await pool.query<WaitingDeletions>(
    `select connection_id, resource, run_id, count(*) as records
     from sync.discrepancies d
     where closed_at is null and status = 'confirmed' and kind = 'extra' and version is not null
       and ($1::text is null or connection_id = $1)
       and exists (
         select from sync.run_streams s
         join unnest($2::text[], $3::text[]) as listed (stream, resource) using (stream)
         where s.run_id = d.run_id and s.failure_type = 'ApprovalNeeded' and listed.resource = d.resource
       )
     group by connection_id, resource, run_id
     order by connection_id, resource, run_id`,
    [connectionId ?? null, streams.map(({ stream }) => stream), streams.map(({ resource }) => resource)],
  );
  return rows;
}
