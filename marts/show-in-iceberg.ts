import { hasTables } from '../iceberg/has-tables.ts';
import { showMarts, type SnapshotFiles } from '../iceberg/show-snapshots.ts';
import type { ProgramPlaces } from '../iceberg/tables-program.ts';
import type { Lake } from '../lake/lake.ts';
import { readManifest } from '../lake/manifest/pointer.ts';
import type { BuildLock } from '../warehouse/marts/build-lock.ts';
import { readMartsPointer } from './publish-on-lake.ts';

/** Makes Iceberg tables show the current marts, if that is wanted, or if the snapshots have such tables. */
export async function showInIceberg(
  { inSession }: Pick<BuildLock, 'inSession'>,
  lake: Lake,
  { add, ...places }: ProgramPlaces & { add: boolean },
): Promise<void> {
  if (!add && !(await inSession((client) => hasTables(client, lake)))) return;
  await showMarts(lake, places, { add: true, marts: await currentMarts(lake) });
}

/** Undefined if there are none. Throws LakeAltered. */
export async function currentMarts(lake: Lake): Promise<SnapshotFiles | undefined> {
  const { pointer } = await readMartsPointer(lake);
  const manifest = pointer && (await readManifest(lake, pointer.snapshot_id));
  if (manifest === undefined) return undefined;
  const tables = Object.entries(pointer?.marts ?? {}).map(([mart, file]) => [
    mart,
    [{ ...file, isNew: true }],
  ]);
  return {
    id: manifest.snapshot_id,
    takenAt: manifest.taken_at,
    tables: Object.fromEntries(tables) as SnapshotFiles['tables'],
  };
}
