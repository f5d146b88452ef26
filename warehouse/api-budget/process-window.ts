/** The requests of this process, counted on a monotonic clock. */
export interface ProcessWindow {
  /** 0 if one more may be sent; otherwise the minimum time until one may. */
  waitMilliseconds(): number;
  /** Counts a request that is about to be sent. */
  begin(): CountedRequest;
}

export interface CountedRequest {
  /** The request was answered or has failed; it counts for another 10 s. */
  end(): void;
  /** The request was not sent. */
  cancel(): void;
}

/**
 * Allows at most `limit` requests in any 10 s as they arrive at the service. A request may arrive at any moment until it is answered, so it counts
 * from before it is sent until 10 s after it ended.
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
