import type { Warehouse } from '../open-warehouse.ts';

/** Records of a resource that a stopped reconcile found gone at the source, and that leave `finance` when a person approves. */
export interface WaitingDeletions {
  connection_id: string;
  resource: string;
  /** The reconcile that found them, and asked. */
  run_id: string;
  records: number;
}

/**
 * Reads the waiting deletions of a connection, only of reconciles that have stopped to ask: not of one that still confirms absent records, or ended
 * before. After that its findings only become fewer, so run and count identify them.
 */
export async function readWaitingDeletions(
  { pool }: Pick<Warehouse, 'pool'>,
  { connectionId }: { connectionId: string },
): Promise<WaitingDeletions[]> {
  const { rows } = await pool.query<WaitingDeletions>(
    `select connection_id, resource, run_id, count(*) as records
     from sync.waiting_deletions
     where connection_id = $1
     group by connection_id, resource, run_id
     order by connection_id, resource, run_id`,
    [connectionId],
  );
  return rows;
}
