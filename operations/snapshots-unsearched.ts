import type { NotedSnapshots } from '../warehouse/snapshots/unsearched-snapshots.ts';

/** An erasure has not searched snapshots that were published somewhere. Only a person can find out where they are now. */
export class SnapshotsUnsearched extends Error {
  override readonly name = 'SnapshotsUnsearched';
  readonly handling = 'stop';

  /** `missing`: not in the searched lake; `incomplete`: some of their files are, but not the one that marks them complete. */
  constructor({ lake, ids }: NotedSnapshots, became: 'elsewhere' | 'missing' | 'incomplete') {
    const [named, more] = [ids.slice(0, mostNamed), ids.length - mostNamed];
    const which = `${named.join(', ')}${more > 0 ? `, and ${more.toLocaleString('en-US')} older` : ''}`;
    const forget = `run "daybook snapshots forget ${lake}"`;
    const words = {
      elsewhere:
        `Snapshots ${which} in ${lake} were not searched and may hold the record. Run the command there too, with ` +
        `DAYBOOK_LAKE=${lake}. If they are no longer there, or were moved, ${forget}.`,
      missing:
        `Snapshots ${which} were published in ${lake}, and are not there now. If the location is a mounted disk or share, check that it is mounted. ` +
        `If they were deleted, ${forget}.`,
      incomplete:
        `Snapshots ${which} in ${lake} lack their _SUCCESS, so they were not searched and may hold the record. If something that copies the lake ` +
        'left out that empty file, restore it, and run the command again. Otherwise delete what is left of them.',
    };
    super(words[became]);
  }
}

const mostNamed = 5;
