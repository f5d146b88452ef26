/**
 * Gives each worker the next piece of work as soon as it is done with one. After a failure no piece is begun, and pieces in progress are
 * waited for, so nothing is being written when this throws.
 */
export async function forEachConcurrently<Work, Worker>(
  work: readonly Work[],
  workers: readonly Worker[],
  run: (piece: Work, worker: Worker) => Promise<void>,
): Promise<void> {
  const left = [...work];
  const ended = await Promise.allSettled(
    workers.map(async (worker) => {
      try {
        for (let piece = left.shift(); piece !== undefined; piece = left.shift()) await run(piece, worker);
      } finally {
        left.length = 0;
      }
    }),
  );
  for (const end of ended) if (end.status === 'rejected') throw end.reason;
}
