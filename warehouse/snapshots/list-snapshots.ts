import type { Warehouse } from '../open-warehouse.ts';

/** A snapshot that was published and is still there, for all that the database knows. */
export interface SnapshotListed {
  snapshot_id: string;
  run_id: string;
  taken_at: Date;
  rows: number;
  bytes: number;
  /** How many values its files do not hold to the last digit. */
  unfit: number;
  /** Files. Of one that a release before 0.6 published, this and what follows is null. */
  parts: number | null;
  parts_added: number | null;
  bytes_added: number | null;
}

/** The newest first. */
export function listSnapshots(
  { db }: Warehouse,
  {
    before,
    limit,
  }: {
    /** Snapshots before this one only: their IDs begin with their times. */
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
