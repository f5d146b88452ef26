import type { Warehouse } from '../open-warehouse.ts';

/** Records of a resource that a stopped reconcile found gone at the source, and deletes when a person approves. */
export interface WaitingDeletions {
  connection_id: string;
  resource: string;
  records: number;
}

/** Of all connections, or of one. */
export function readWaitingDeletions(
  { db }: Warehouse,
  input: { connectionId?: string | undefined },
): Promise<WaitingDeletions[]> {
  let query = db
    .selectFrom('sync.discrepancies')
    .select(({ fn }) => ['connection_id', 'resource', fn.countAll<number>().as('records')])
    .where('status', '=', 'confirmed')
    .groupBy(['connection_id', 'resource'])
    .orderBy('connection_id')
    .orderBy('resource');
  if (input.connectionId !== undefined) query = query.where('connection_id', '=', input.connectionId);
  return query.execute();
}
