import type { NotedSnapshots } from '../warehouse/snapshots/unsearched-snapshots.ts';

/** An erasure has not looked into snapshots that were published somewhere. A person knows what became of them. */
export class SnapshotsUnsearched extends Error {
  override readonly name = 'SnapshotsUnsearched';
  readonly handling = 'stop';

  /** `missing`: not in the lake that was searched; `incomplete`: files of them are, but not the one that makes them snapshots. */
  constructor({ lake, ids }: NotedSnapshots, became: 'elsewhere' | 'missing' | 'incomplete') {
    const [named, more] = [ids.slice(0, mostNamed), ids.length - mostNamed];
    const which = `${named.join(', ')}${more > 0 ? `, and ${more.toLocaleString('en-US')} older` : ''}`;
    const forget = `run "daybook snapshots forget ${lake}"`;
    const words = {
      elsewhere:
        `Not searched, and may hold it: what was published in ${lake}, snapshots ${which}. Run the command there too, with ` +
        `DAYBOOK_LAKE=${lake}. If nothing of them is there any more, or they were moved, ${forget}.`,
      missing:
        `Published in ${lake}, and not found there: snapshots ${which}. If this host has the place from elsewhere, as a disk or a share, see that it is there. ` +
        `If they were deleted, ${forget}.`,
      incomplete:
        `Not searched, and may hold it: snapshots ${which} in ${lake} lack their _SUCCESS. If something that copies the lake left out that empty file, ` +
        'put it back, and run the command again. Otherwise delete what is left of them.',
    };
    super(words[became]);
  }
}

const mostNamed = 5;
