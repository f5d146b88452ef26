import { LakeRefused, LakeUnavailable } from '../lake/errors.ts';
import type { Lake, LakeToOpen } from '../lake/lake.ts';
import { openLake } from '../lake/open-lake.ts';
import { filterConcurrently } from '../lake/map-concurrently.ts';
import type { Warehouse } from '../warehouse/open-warehouse.ts';
import { noteGone, readNoted } from '../warehouse/snapshots/unsearched-snapshots.ts';

/** No snapshot is recorded in that place. */
class NothingNoted extends Error {
  override readonly name = 'NothingNoted';
  readonly handling = 'stop';

  constructor(place: string, places: readonly string[]) {
    const known = places.length === 0 ? 'none is known anywhere' : `they are in ${places.join(', ')}`;
    super(`No snapshot is known to be in ${place}: ${known}.`);
  }
}

/** The snapshots to forget still exist. */
class SnapshotsThere extends Error {
  override readonly name = 'SnapshotsThere';
  readonly handling = 'stop';

  constructor(place: string, ids: readonly string[]) {
    super(
      `${place} still has ${ids.length.toLocaleString('en-US')} of these snapshots, such as ${ids[0] ?? ''}, so nothing was forgotten. ` +
        'Remove all files below snapshots/ID of each first. If they belong to the warehouse that this one was copied from, add --force.',
    );
  }
}

/** Files made from the snapshots, or left by a killed process, still exist. */
class LeftoversThere extends Error {
  override readonly name = 'LeftoversThere';
  readonly handling = 'stop';

  constructor(place: string, folders: readonly string[]) {
    super(
      `${place} still has files below ${folders.join(' and ')}, which may hold content of these snapshots, so nothing was forgotten. Remove them first. ` +
        'If they belong to the warehouse that this one was copied from, add --force.',
    );
  }
}

/** Storage does not answer, so it may still have them. */
class PlaceUnseen extends Error {
  override readonly name = 'PlaceUnseen';
  readonly handling = 'stop';

  constructor(place: string, cause: Error) {
    super(
      `Cannot look into ${place} (${cause.message}), so nothing was forgotten. If the location no longer exists, add --force.`,
      { cause },
    );
  }
}

/**
 * Records that snapshots are no longer in the place where they were published. Those that this warehouse's lake has count as moved there. With
 * `force` it does not look into the place. Throws NothingNoted, SnapshotsThere, LeftoversThere, PlaceUnseen, and the errors of this lake.
 */
export async function forgetSnapshots(
  { warehouse, location, scratch }: { warehouse: Warehouse; location: string; scratch: string },
  { place, force }: { place: string; force: boolean },
): Promise<{ gone: string[]; moved: string[] }> {
  // Read before the lakes: snapshots that an export publishes meanwhile are not included.
  const [noted] = await readNoted(warehouse.pool, { lake: place });
  if (noted === undefined) {
    const places = (await readNoted(warehouse.pool)).map(({ lake }) => lake);
    throw new NothingNoted(place, places);
  }
  const { ids } = noted;
  const { moved, incomplete } = await inLake({ location, scratch }, async (lake) => {
    const complete = new Set(await lake.snapshotIds());
    return {
      moved: ids.filter((id) => complete.has(id)),
      incomplete: await filterConcurrently(
        8,
        ids,
        async (id) => !complete.has(id) && (await lake.isThere(`snapshots/${id}`)),
      ),
    };
  });
  if (!force) {
    if (incomplete.length > 0) throw new SnapshotsThere(location, incomplete);
    // In the current lake, an erasure takes care of files made from them.
    if (place !== location) await requireNothingIn({ place, scratch }, ids);
  }
  const gone = ids.filter((id) => !moved.includes(id));
  await noteGone(warehouse.pool, { ids, movedTo: { lake: location, ids: moved } });
  return { gone, moved };
}

/** Throws SnapshotsThere, LeftoversThere, PlaceUnseen. */
async function requireNothingIn(
  { place, scratch }: { place: string; scratch: string },
  ids: readonly string[],
): Promise<void> {
  const [snapshots, folders] = await seen(place, () =>
    inLake({ location: place, scratch }, async (lake): Promise<[string[], string[]]> => [
      await filterConcurrently(8, ids, (id) => lake.isThere(`snapshots/${id}`)),
      await filterConcurrently(8, ['snapshots', 'marts', 'iceberg'], (name) => lake.hasFilesIn(name)),
    ]),
  );
  if (snapshots.length > 0) throw new SnapshotsThere(place, snapshots);
  if (folders.length > 0) throw new LeftoversThere(place, folders);
}

async function inLake<Result>(places: LakeToOpen, work: (lake: Lake) => Promise<Result>): Promise<Result> {
  const lake = await openLake(places);
  try {
    return await work(lake);
  } finally {
    await lake.close();
  }
}

async function seen<Result>(place: string, look: () => Promise<Result>): Promise<Result> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof LakeRefused || error instanceof LakeUnavailable) throw new PlaceUnseen(place, error);
    throw error;
  }
}
