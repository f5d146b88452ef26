/** Signals and updates of workflows, by the names in histories of all releases. Only `requestMarts` takes input, and works without. */
export const signals = {
  dataReady: 'dataReady',
  webhooksArrived: 'webhooksArrived',
  requestMarts: 'requestMarts',
  approveDeletes: 'approveDeletes',
} as const;

export const updates = { syncNow: 'syncNow', approve: 'approve' } as const;

/** The run in which a sync reads the source's state as of `syncNow`: this one, or the one that follows it at once. */
export type ReadsIn = 'this run' | 'the run that follows it';
