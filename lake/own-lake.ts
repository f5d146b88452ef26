import { ForeignLake } from './errors.ts';
import type { Lake, LakeToOpen } from './lake.ts';
import { openLake } from './open-lake.ts';
import { lookAtManifest, lookAtPointer } from './manifest/pointer.ts';
import { isFarAhead, timeOfSnapshot } from './manifest/snapshot-id.ts';

/** The warehouse whose history a lake shows. */
export interface LakeOwner {
  readonly warehouseId: string;
  /** Whether the warehouse knows the snapshot as its own. Nothing else tells if the manifest cannot be read. */
  readonly hasNoted: (snapshotId: string) => Promise<boolean>;
}

/** Opens a lake to write or remove there. Throws ForeignLake, and the errors of `openLake`. */
export async function openOwnLake(places: LakeToOpen, owner: LakeOwner): Promise<Lake> {
  const lake = await openLake(places);
  try {
    await requireOwnLake(lake, owner);
    return lake;
  } catch (error) {
    await lake.close();
    throw error;
  }
}

/**
 * Throws ForeignLake if the lake belongs to another warehouse, according to the snapshot that `latest.json` names, or else to the newest one
 * with an owner. A lake without snapshots belongs to nobody.
 */
export async function requireOwnLake(lake: Lake, owner: LakeOwner): Promise<void> {
  let isOurs: boolean | undefined;
  for await (const id of tellingIds(lake)) {
    const seen = await lookAtManifest(lake, id);
    if (seen === undefined) continue;
    isOurs =
      seen.value === undefined ? await owner.hasNoted(id) : seen.value.warehouse_id === owner.warehouseId;
    if (isOurs || seen.value !== undefined) break;
  }
  if (isOurs === false) throw new ForeignLake(lake.location);
}

async function* tellingIds(lake: Lake): AsyncGenerator<string> {
  const named = (await lookAtPointer(lake))?.value?.snapshot_id;
  if (named !== undefined) yield named;
  yield* (await nearIds(lake)).reverse();
}

/** IDs of complete snapshots, oldest first, without IDs far in the future: none of them is ours. */
export async function nearIds(lake: Lake): Promise<string[]> {
  return (await lake.snapshotIds()).filter((id) => !isFarAhead(timeOfSnapshot(id)));
}

/** The warehouse's own IDs among these: somebody may have copied another company's snapshot into the lake. */
export async function ownIds(lake: Lake, owner: LakeOwner): Promise<string[]> {
  const own: string[] = [];
  for (const id of await nearIds(lake)) {
    const isOwn =
      (await owner.hasNoted(id)) ||
      (await lookAtManifest(lake, id))?.value?.warehouse_id === owner.warehouseId;
    if (isOwn) own.push(id);
  }
  return own;
}
