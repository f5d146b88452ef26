import type { ClientBase } from 'pg';
import {
  IcebergUnsearched,
  isInTheWayOfIceberg,
  leftOut,
  TablesElsewhere,
  TablesUnknown,
} from '../iceberg/errors.ts';
import { hasTables } from '../iceberg/has-tables.ts';
import { whereCatalogLeads } from '../iceberg/where-catalog-leads.ts';
import { showMarts, showSnapshots } from '../iceberg/show-snapshots.ts';
import type { Namespace, ProgramPlaces, TablesShown } from '../iceberg/tables-program.ts';
import { LakeKeeps } from '../lake/errors.ts';
import type { Lake } from '../lake/lake.ts';
import type { LakeOwner } from '../lake/own-lake.ts';
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
    owner,
    isOurs,
    places,
    searched,
  }: {
    client: Pick<ClientBase, 'query'>;
    lake: Lake;
    owner: LakeOwner;
    /** Whether Daybook has published snapshots in it. */
    isOurs: boolean;
    places: ProgramPlaces;
    /** Other lakes of which nothing holds the record any more. */
    searched: readonly string[];
  },
  onKept: (problem: IcebergKept) => void,
): Promise<void> {
  const unlessInTheWay = createUnlessInTheWay(lake.location, onKept);
  let files = 0;
  await unlessInTheWay(async () => {
    if (!(await hasTables(client, lake))) return;
    const led = await whereCatalogLeads(client, lake);
    const elsewhere = new Set(led.flatMap((one) => one.elsewhere));
    const clear = (namespace: Namespace, show: () => Promise<TablesShown>): Promise<void> =>
      unlessInTheWay(async () => {
        const isHere = led.some((one) => one.namespace === namespace && one.isHere);
        if (isHere || (isOurs && elsewhere.size === 0)) {
          const { kept, left } = await show();
          files += kept;
          if (left.length > 0) places.onStep?.(leftOut(left));
        } else if (isOurs) await lake.removeFolder(`iceberg/${namespace}`);
        else if (await lake.hasFilesIn(`iceberg/${namespace}`))
          onKept(new TablesUnknown(lake.location, namespace));
      });
    for (const place of elsewhere) if (!searched.includes(place)) onKept(new TablesElsewhere(place));
    const sweeping = { add: true, sweep: true } as const;
    try {
      await clear('finance', () => showSnapshots(lake, places, { ...sweeping, owner, newest: undefined }));
    } finally {
      // Of marts too whatever can be removed, though something stands in the way of the others.
      const marts = await unlessInTheWay(() => currentMarts(lake));
      await clear('marts', () => showMarts(lake, places, { ...sweeping, marts }));
    }
  });
  if (files > 0) onKept(new LakeKeeps(lake.location, { files, code: 'they are still listed' }));
}

type IcebergKept = IcebergUnsearched | LakeKeeps | TablesElsewhere | TablesUnknown;

/** Does work on Iceberg tables. What stands in the way of it, or is not removed, goes to `onKept`, each once; then undefined is returned. */
function createUnlessInTheWay(
  location: string,
  onKept: (problem: IcebergUnsearched | LakeKeeps) => void,
): <Result>(work: () => Promise<Result>) => Promise<Result | undefined> {
  const told = new Set<string>();
  return async (work) => {
    try {
      return await work();
    } catch (error) {
      const isKept = error instanceof LakeKeeps;
      if (!isKept && !isInTheWayOfIceberg(error)) throw error;
      if (!told.has(error.message)) onKept(isKept ? error : new IcebergUnsearched(location, error));
      told.add(error.message);
      return undefined;
    }
  };
}
