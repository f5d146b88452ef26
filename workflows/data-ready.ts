import type { ReadOn } from './read-streams.ts';

/** Whether the service said that there is more data, and no read of the run can be trusted to have seen it. */
export interface Announcements {
  arrived(): void;
  /** Notes what a read that begins now can have seen. */
  watch(readOn: ReadOn): ReadOn;
  areUnanswered(): boolean;
}

/**
 * An announcement is answered by reads that began after it, of all streams. A read that was only told to wait began
 * nothing, so the announcement that ends such a wait costs no second run.
 *
 * `complete`: the run reads all streams. `begun`: it goes on with what was read before.
 */
export function trackAnnouncements({
  complete,
  begun,
}: {
  complete: boolean;
  begun: boolean;
}): Announcements {
  let arrived = 0;
  /** How many had arrived when the first read began that is part of the run. */
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
