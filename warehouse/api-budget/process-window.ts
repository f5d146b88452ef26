/** The requests of this process, counted on a clock that nobody sets. */
export interface ProcessWindow {
  /** 0 when one more may be sent; otherwise how long it will at least take until one may. */
  waitMilliseconds(): number;
  /** Counts a request that is about to be sent. */
  begin(): CountedRequest;
}

export interface CountedRequest {
  /** It was answered, or has failed: it counts for another 10 s. */
  end(): void;
  /** It was not sent. */
  cancel(): void;
}

/**
 * At most `limit` requests in any 10 s as they arrive, however long one is on its way: until it is answered it may arrive at any
 * moment, so it counts from before it is sent until 10 s after it ended.
 */
export function createProcessWindow(limit: number, now: () => number): ProcessWindow {
  const ends: number[] = [];
  let open = 0;
  return {
    waitMilliseconds() {
      const over = now() - windowMilliseconds;
      while (ends[0] !== undefined && ends[0] <= over) ends.shift();
      if (open + ends.length < limit) return 0;
      return ends[0] === undefined ? windowMilliseconds : ends[0] - over;
    },
    begin() {
      open += 1;
      return {
        end() {
          open -= 1;
          ends.push(now());
        },
        cancel() {
          open -= 1;
        },
      };
    },
  };
}

const windowMilliseconds = 10_000;
