import type { NotedSnapshots } from '../warehouse/snapshots/unsearched-snapshots.ts';

/** An erasure has not looked into snapshots that were published somewhere. A person knows what became of them. */
export class SnapshotsUnsearched extends Error {
  override readonly name = 'SnapshotsUnsearched';
  readonly handling = 'stop';

  /** `isHere`: the lake was searched, and they are not in it. */
  constructor({ lake, ids }: NotedSnapshots, { isHere }: { isHere: boolean }) {
    const [named, more] = [ids.slice(0, mostNamed), ids.length - mostNamed];
    const which = `${named.join(', ')}${more > 0 ? `, and ${more.toLocaleString('en-US')} older` : ''}`;
    const forget = `run "daybook snapshots forget ${lake}"`;
    super(
      isHere
        ? `Published in ${lake}, and not found there: snapshots ${which}. If this host has the place from elsewhere, as a disk or a share, see that it is there. ` +
            `If they were deleted, ${forget}.`
        : `Not searched, and may hold it: what was published in ${lake}, snapshots ${which}. Run the command there too, with ` +
            `DAYBOOK_LAKE=${lake}. If nothing of them is there any more, or they were moved, ${forget}.`,
    );
  }
}

const mostNamed = 5;
