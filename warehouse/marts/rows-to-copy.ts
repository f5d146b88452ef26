import { sql } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';

/** The time of a snapshot's rows, or why Postgres does not show marts of them. */
export type RowsToCopy = { readonly takenAt: string } | { readonly failure: string };

/**
 * Returns the time of the rows of a snapshot whose marts Postgres may show: this warehouse has published that snapshot, whatever somebody has put into
 * the lake since; Postgres shows no newer rows; and none of the connections in the marts was removed since.
 */
export async function findRowsToCopy(
  { db }: Pick<Warehouse, 'db'>,
  marts: {
    readonly snapshotId: string;
    readonly manifestSha256: string;
    readonly connections: readonly string[];
  },
): Promise<RowsToCopy> {
  const { snapshotId, manifestSha256, connections } = marts;
  const { rows } = await sql<{ taken_at: string; is_ahead: boolean; is_older: boolean; removed: number }>`
    select to_char(taken_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as taken_at,
      taken_at > clock_timestamp() as is_ahead,
      exists (
        select from sync.marts m
        -- A build in Postgres reads its rows at some moment between the two.
        where m.target = 'postgres'
          and case when m.snapshot_id is null then m.built_at else m.begun_at end > s.taken_at
      ) as is_older,
      (
        select count(*)::int from unnest(${connections}::text[]) as shown (id)
        where not exists (
          select from sync.connections c where c.connection_id = shown.id and c.created_at <= s.taken_at
        )
      ) as removed
    from sync.snapshots s
    where snapshot_id = ${snapshotId} and manifest_sha256 = ${manifestSha256} and removed_at is null
  `.execute(db);
  const [found] = rows;
  if (found === undefined)
    return { failure: `This warehouse did not publish snapshot ${snapshotId} as it is.` };
  if (found.is_ahead)
    return { failure: `Snapshot ${snapshotId} was taken at a time ahead of the clock of Postgres.` };
  if (found.is_older)
    return { failure: `Postgres shows marts of newer rows than snapshot ${snapshotId} has.` };
  if (found.removed > 0)
    return { failure: `A connection was removed since snapshot ${snapshotId} was taken.` };
  return { takenAt: found.taken_at };
}
