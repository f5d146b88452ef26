/** What to say if a workflow has ended and there is no run of it. */
export const endedBeforeRun = 'The workflow ended before its run began; its history in Temporal says why.';
