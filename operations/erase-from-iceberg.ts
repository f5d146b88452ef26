import type { ClientBase } from 'pg';
import { IcebergUnsearched, isInTheWayOfIceberg, TablesElsewhere, TablesUnknown } from '../iceberg/errors.ts';
import { hasTables } from '../iceberg/has-tables.ts';
import { namespacesElsewhere } from '../iceberg/namespaces-elsewhere.ts';
import { showMarts, showSnapshots, type SnapshotFiles } from '../iceberg/show-snapshots.ts';
import type { Namespace, ProgramPlaces, TablesShown } from '../iceberg/tables-program.ts';
import { LakeKeeps } from '../lake/errors.ts';
import type { Lake } from '../lake/lake.ts';
import { currentMarts } from '../marts/show-in-iceberg.ts';

/**
 * Lets the Iceberg tables show the snapshots and the marts as they are now. What nothing names any more goes from the disk, wherever an attempt
 * that was killed has left it. Where the catalog leads readers to another lake, it is left as it is, all files of the tables go from this one if
 * it is ours, and that lake is named unless it was searched.
 * `onKept` hears what storage does not remove, and what stands in the way of all that, once for all tables: an erasure has more to do.
 */
export async function eraseFromIceberg(
  {
    client,
    lake,
    isOurs,
    places,
    searched,
  }: {
    client: Pick<ClientBase, 'query'>;
    lake: Lake;
    /** Whether Daybook has published snapshots in it. */
    isOurs: boolean;
    places: ProgramPlaces;
    /** Other lakes of which nothing holds the record any more. */
    searched: readonly string[];
  },
  onKept: (problem: IcebergUnsearched | LakeKeeps | TablesElsewhere | TablesUnknown) => void,
): Promise<void> {
  const told = new Set<string>();
  let files = 0;
  const unlessInTheWay = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      const isKept = error instanceof LakeKeeps;
      if (!isKept && !isInTheWayOfIceberg(error)) throw error;
      if (!told.has(error.message)) onKept(isKept ? error : new IcebergUnsearched(lake.location, error));
      told.add(error.message);
    }
  };
  await unlessInTheWay(async () => {
    if (!(await hasTables(client, lake))) return;
    const elsewhere = await namespacesElsewhere(client, lake);
    const clear = (namespace: Namespace, show: () => Promise<TablesShown>): Promise<void> =>
      unlessInTheWay(async () => {
        if (!elsewhere.some((one) => one.namespace === namespace)) files += (await show()).kept;
        else if (isOurs) await lake.removeFolder(`iceberg/${namespace}`);
        else if ((await lake.filesIn(`iceberg/${namespace}`)).length > 0)
          onKept(new TablesUnknown(lake.location, namespace));
      });
    for (const place of new Set(elsewhere.flatMap(({ lakes }) => lakes)))
      if (!searched.includes(place)) onKept(new TablesElsewhere(place));
    const sweeping = { add: true, sweep: true } as const;
    try {
      await clear('finance', () => showSnapshots(lake, places, { ...sweeping, newest: undefined }));
    } finally {
      // Of marts too whatever can be removed, though something stands in the way of the others.
      let marts: SnapshotFiles | undefined;
      await unlessInTheWay(async () => {
        marts = await currentMarts(lake);
      });
      await clear('marts', () => showMarts(lake, places, { ...sweeping, marts }));
    }
  });
  if (files > 0) onKept(new LakeKeeps(lake.location, { files, code: 'they are still listed' }));
}
