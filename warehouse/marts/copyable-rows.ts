import { sql } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';

/** The time of a snapshot's rows, or why Postgres does not show marts of them. */
export type CopyableRows = { readonly takenAt: string } | { readonly failure: string };

/**
 * Returns the time of the rows of a snapshot whose marts Postgres may show: one that this warehouse has published, whatever somebody has put into
 * the lake since, and that is not older than what Postgres shows. A time to come means that the database's clock has been put back.
 */
export async function findCopyableRows(
  { db }: Pick<Warehouse, 'db'>,
  { snapshotId, manifestSha256 }: { readonly snapshotId: string; readonly manifestSha256: string },
): Promise<CopyableRows> {
  const { rows } = await sql<{ taken_at: string; is_newest: boolean }>`
    select to_char(taken_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as taken_at,
      taken_at <= clock_timestamp()
        and not exists (select from sync.marts m where m.target = 'postgres' and m.begun_at > s.taken_at) as is_newest
    from sync.snapshots s
    where snapshot_id = ${snapshotId} and manifest_sha256 = ${manifestSha256} and removed_at is null
  `.execute(db);
  const [found] = rows;
  if (found === undefined)
    return { failure: `This warehouse did not publish snapshot ${snapshotId} as it is.` };
  if (!found.is_newest)
    return { failure: `Postgres has marts of newer rows than those of snapshot ${snapshotId}.` };
  return { takenAt: found.taken_at };
}
