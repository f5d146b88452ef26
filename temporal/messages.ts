/** Signals and updates that workflows take, by the names that histories of all releases have. None of the signals takes input. */
export const signals = {
  dataReady: 'dataReady',
  webhooksArrived: 'webhooksArrived',
  requestMarts: 'requestMarts',
  approveDeletes: 'approveDeletes',
} as const;

export const updates = { syncNow: 'syncNow', approve: 'approve' } as const;

/** In which run a sync reads what was at the source when `syncNow` asked for it: this one, or the one that follows it at once. */
export type ReadsIn = 'this run' | 'the run that follows it';
