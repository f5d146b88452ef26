import type { ClientBase } from 'pg';
import { LakeKeeps } from '../../lake/errors.ts';
import type { Lake } from '../../lake/lake.ts';
import { noteSnapshotRemoved, noteSnapshotThere } from '../../warehouse/snapshots/note-snapshot.ts';

/**
 * Removes a snapshot from the lake, and notes the removal before: if the process is killed midway, the leftovers are no longer a snapshot, and
 * nothing would tell later that they were one. If storage keeps the snapshot whole, it is noted as present. Throws LakeKeeps.
 */
export async function removeSnapshot(client: ClientBase, lake: Lake, id: string): Promise<void> {
  await lake.assertHeld();
  await noteSnapshotRemoved(client, { lake: lake.location, id });
  try {
    await lake.removeSnapshot(id);
  } catch (error) {
    const isWhole = error instanceof LakeKeeps && (await lake.snapshotIds()).includes(id);
    if (isWhole) await noteSnapshotThere(client, { lake: lake.location, id });
    throw error;
  }
}
