import type { Warehouse } from '../open-warehouse.ts';

/** A snapshot that was published and still exists, as far as the database knows. */
export interface SnapshotListed {
  snapshot_id: string;
  run_id: string;
  taken_at: Date;
  rows: number;
  bytes: number;
  /** Number of values that its files do not hold to the last digit. */
  unfit: number;
  /** Number of files. This field and the following ones are null for a snapshot that a release before 0.6 published. */
  parts: number | null;
  parts_added: number | null;
  bytes_added: number | null;
}

/** Lists snapshots, the newest first. */
export function listSnapshots(
  { db }: Warehouse,
  {
    before,
    limit,
  }: {
    /** Only snapshots before this one: their IDs begin with their times. */
    before?: string | undefined;
    limit: number;
  },
): Promise<SnapshotListed[]> {
  const kept = db
    .selectFrom('sync.snapshots')
    .select([
      'snapshot_id',
      'run_id',
      'taken_at',
      'rows',
      'bytes',
      'unfit',
      'parts',
      'parts_added',
      'bytes_added',
    ])
    .where('removed_at', 'is', null);
  const asked = before === undefined ? kept : kept.where('snapshot_id', '<', before);
  return asked.orderBy('snapshot_id', 'desc').limit(limit).execute();
}
