import type { ReadOn } from './read-streams.ts';

/** Tracks whether the service announced more data that no read of the run is sure to have seen. */
export interface Announcements {
  arrived(): void;
  /** Notes which announcements a read that begins now can have seen. */
  watch(readOn: ReadOn): ReadOn;
  areUnanswered(): boolean;
}

/**
 * An announcement is answered by reads of all streams that began after it. A read that was only told to wait did not begin, so the announcement
 * that ends such a wait costs no second run.
 *
 * `complete`: the run reads all streams. `begun`: it continues earlier reads.
 */
export function trackAnnouncements({
  complete,
  begun,
}: {
  complete: boolean;
  begun: boolean;
}): Announcements {
  let arrived = 0;
  /** The number of announcements before the first read that is part of the run. */
  let seen = begun || !complete ? 0 : Infinity;
  return {
    arrived() {
      arrived += 1;
    },
    watch: (readOn) => async (stream, summary, after) => {
      const before = arrived;
      const begins = (): void => {
        seen = Math.min(seen, before);
      };
      try {
        const read = await readOn(stream, summary, after);
        if (read.state !== 'wait' || read.counts.pages > 0) begins();
        return read;
      } catch (error) {
        begins();
        throw error;
      }
    },
    areUnanswered: () => arrived > seen,
  };
}
