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
 * Makes the Iceberg tables show the current snapshots and marts. Unreferenced files are removed from the disk, including leftovers of killed
 * attempts. If the catalog names another lake, that lake stays unchanged, all files of the tables are removed from this one if it is ours, and
 * the other lake is reported unless it was searched. `onKept` receives removals that storage refuses, and whatever prevents all this, once for
 * all tables: an erasure has more to do.
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
    /** Whether Daybook has published snapshots in the lake. */
    isOurs: boolean;
    places: ProgramPlaces;
    /** Other lakes in which nothing holds the record now. */
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
      // Whatever can be removed from the marts too, even if the other tables fail.
      const marts = await unlessInTheWay(() => currentMarts(lake));
      await clear('marts', () => showMarts(lake, places, { ...sweeping, marts }));
    }
  });
  if (files > 0) onKept(new LakeKeeps(lake.location, { files, code: 'they are still listed' }));
}

type IcebergKept = IcebergUnsearched | LakeKeeps | TablesElsewhere | TablesUnknown;

/** Runs work on Iceberg tables. Errors that prevent it, and refused removals, go to `onKept`, each once; the result is then undefined. */
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
