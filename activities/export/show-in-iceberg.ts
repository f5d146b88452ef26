import { join } from 'node:path';
import { isInTheWayOfIceberg, leftOut } from '../../iceberg/errors.ts';
import { hasTables } from '../../iceberg/has-tables.ts';
import { showSnapshots } from '../../iceberg/show-snapshots.ts';
import type { Lake } from '../../lake/lake.ts';
import { lakeOwnerIn } from '../../warehouse/snapshots/lake-owner.ts';
import type { ExportSession } from '../../warehouse/snapshots/open-snapshot.ts';
import type { Exported, ExportJob } from './export-job.ts';

/**
 * Adds the snapshots of the lake to Iceberg tables if that is wanted, and removes deleted ones. The snapshot stays published in any case: a
 * failure is only reported, and must not hold up the marts or the next snapshot, which completes the tables too.
 */
export async function showInIceberg(
  { session, lake }: { session: ExportSession; lake: Lake },
  { databaseUrl, scratch, warehouseId, iceberg }: ExportJob,
  newest: string,
): Promise<Pick<Exported, 'icebergTables' | 'icebergProblem'>> {
  if (iceberg === undefined) return {};
  const { add, cacheFolder } = iceberg;
  if (!add && !(await hasTables(session.client, lake))) return {};
  const places = { databaseUrl, cacheFolder, scratch: join(scratch, 'iceberg') };
  try {
    await session.assertAlive();
    const owner = lakeOwnerIn(session.client, warehouseId);
    const { tables, left } = await showSnapshots(lake, places, { owner, add, newest });
    return {
      ...(add ? { icebergTables: tables } : {}),
      ...(left.length > 0 ? { icebergProblem: leftOut(left) } : {}),
    };
  } catch (error) {
    if (isInTheWayOfIceberg(error)) return { icebergProblem: error.message };
    throw error;
  }
}
