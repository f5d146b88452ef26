/** Counts of what was played. */
export interface PlayCounts {
  /** Statements, requests and waits. */
  steps: number;
  changes: number;
  runs: number;
  webhooks: number;
  kills: number;
  retries: number;
  requests: number;
  /** Requests that the service answered wrongly, as it was told to. */
  faults: number;
  snapshots: number;
}

export function zeroPlayCounts(): PlayCounts {
  return {
    steps: 0,
    changes: 0,
    runs: 0,
    webhooks: 0,
    kills: 0,
    retries: 0,
    requests: 0,
    faults: 0,
    snapshots: 0,
  };
}
