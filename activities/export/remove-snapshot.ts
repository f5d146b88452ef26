import type { ClientBase } from 'pg';
import { LakeKeeps } from '../../lake/errors.ts';
import type { Lake } from '../../lake/lake.ts';
import { noteSnapshotRemoved, noteSnapshotThere } from '../../warehouse/snapshots/note-snapshot.ts';

/**
 * Removes a snapshot from the lake, and notes that before: what a process that is killed midway leaves is no snapshot any more, and nothing
 * tells later that it was one. One that storage keeps whole is there. Throws LakeKeeps.
 */
export async function removeSnapshot(client: ClientBase, lake: Lake, id: string): Promise<void> {
  await noteSnapshotRemoved(client, { lake: lake.location, id });
  try {
    await lake.removeSnapshot(id);
  } catch (error) {
    const isWhole = error instanceof LakeKeeps && (await lake.snapshotIds()).includes(id);
    if (isWhole) await noteSnapshotThere(client, { lake: lake.location, id });
    throw error;
  }
}
