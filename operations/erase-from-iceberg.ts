import type { ClientBase } from 'pg';
import { IcebergUnsearched, isInTheWayOfIceberg } from '../iceberg/errors.ts';
import { hasTables } from '../iceberg/has-tables.ts';
import { showMarts, showSnapshots, type SnapshotFiles } from '../iceberg/show-snapshots.ts';
import type { ProgramPlaces } from '../iceberg/tables-program.ts';
import type { Lake } from '../lake/lake.ts';
import { currentMarts } from '../marts/show-in-iceberg.ts';

/**
 * Lets the Iceberg tables show the snapshots and the marts as they are now. What nothing names any more goes from the disk, wherever an attempt
 * that was killed has left it. `onKept` hears what stands in the way of that, once for all tables: an erasure has more to do.
 */
export async function eraseFromIceberg(
  { client, lake, places }: { client: Pick<ClientBase, 'query'>; lake: Lake; places: ProgramPlaces },
  onKept: (problem: IcebergUnsearched) => void,
): Promise<void> {
  const told = new Set<string>();
  const unlessInTheWay = async (work: () => Promise<unknown>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (!isInTheWayOfIceberg(error)) throw error;
      if (!told.has(error.message)) onKept(new IcebergUnsearched(lake.location, error));
      told.add(error.message);
    }
  };
  await unlessInTheWay(async () => {
    if (!(await hasTables(client, lake))) return;
    try {
      await unlessInTheWay(() => showSnapshots(lake, places, { add: true, sweep: true, newest: undefined }));
    } finally {
      // Of marts too whatever can be removed, though something stands in the way of the others.
      let marts: SnapshotFiles | undefined;
      await unlessInTheWay(async () => {
        marts = await currentMarts(lake);
      });
      await unlessInTheWay(() => showMarts(lake, places, { add: true, sweep: true, marts }));
    }
  });
}
