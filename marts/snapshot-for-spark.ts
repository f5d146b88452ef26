import { ForeignLake, SnapshotDamaged } from '../lake/errors.ts';
import type { Lake } from '../lake/lake.ts';
import type { Unfit } from '../lake/manifest/manifest.ts';
import type { LakeOwner } from '../lake/own-lake.ts';
import { findManifest } from '../lake/manifest/pointer.ts';
import { isFarAhead, snapshotIdPattern, timeOfSnapshot } from '../lake/manifest/snapshot-id.ts';
import { recordKeyOf } from '../warehouse/snapshots/unfit-table.ts';
import { NoIcebergSnapshot } from './errors.ts';

/** A snapshot, its tables, and the unfit values of its manifest, as `stg_finance__unfit_values` has them. */
export interface SnapshotForSpark {
  readonly snapshot: string;
  readonly tables: readonly string[];
  readonly unfit: readonly unknown[];
}

/**
 * Returns the last of these snapshots, which are ordered by the time of their rows, that is not dated more than a day ahead by its ID or its
 * manifest: anyone with write access to the lake may have listed any. Throws NoIcebergSnapshot, SnapshotDamaged, LakeAltered, ForeignLake.
 */
export async function snapshotForSpark(
  { lake, owner }: { lake: Lake; owner: LakeOwner },
  listed: readonly string[],
): Promise<SnapshotForSpark> {
  const near = listed.filter((id) => snapshotIdPattern.test(id) && !isFarAhead(timeOfSnapshot(id)));
  for (const snapshot of near.reverse()) {
    const manifest = await findManifest(lake, snapshot);
    if (manifest === undefined) throw new SnapshotDamaged(snapshot, 'its manifest');
    const { tables, unfit, taken_at: takenAt, warehouse_id: warehouseId } = manifest.value;
    if (isFarAhead(Date.parse(takenAt))) continue;
    if (warehouseId !== owner.warehouseId) throw new ForeignLake(lake.location);
    return { snapshot, tables: Object.keys(tables), unfit: unfit.map(asRow) };
  }
  throw new NoIcebergSnapshot(lake.location);
}

function asRow({ table, column, key, rounded = false }: Unfit): unknown {
  const { connection_id, position = null, recorded_at = null } = key;
  const name = recordKeyOf(Object.keys(key));
  return {
    table_name: table,
    connection_id,
    record_id: name === undefined ? null : (key[name] ?? null),
    position,
    recorded_at,
    column_name: column,
    is_rounded: rounded,
  };
}
