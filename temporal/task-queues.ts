/** Short work: workflows and bookkeeping. */
export const mainQueue = 'daybook';
/** Reading pages. */
export const pagingQueue = 'daybook-io';
/** Writing snapshots: one at a time in each process. */
export const exportQueue = 'daybook-export';
/** Building marts: one at a time in each process. */
export const martsQueue = 'daybook-marts';
