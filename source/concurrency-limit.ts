/** Lets a number of callers work at once. Those that wait come in turns: one of each that `of` names, and of each the one that came first. */
export interface ConcurrencyLimit {
  /** Rejects with the signal's reason when that is aborted before the work has begun. */
  run<Result>(
    caller: { readonly of: string; readonly signal?: AbortSignal | undefined },
    work: () => Promise<Result>,
  ): Promise<Result>;
}

export function limitConcurrency(count: number): ConcurrencyLimit {
  /** In the order of their turns. */
  const waiting = new Map<string, Set<() => void>>();
  let running = 0;
  return {
    async run({ of, signal }, work) {
      signal?.throwIfAborted();
      if (running < count) running += 1;
      else await turn(of, signal);
      try {
        return await work();
      } finally {
        const [next] = waiting;
        if (next === undefined) running -= 1;
        else handOn(next);
      }
    },
  };

  /** The place of one that is done: nobody who comes later gets in between. */
  function handOn([of, callers]: [string, Set<() => void>]): void {
    waiting.delete(of);
    waiting.set(of, callers);
    const [next] = callers;
    next?.();
  }

  function turn(of: string, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const callers = waiting.get(of) ?? new Set();
      const forget = (): void => {
        callers.delete(go);
        if (callers.size === 0) waiting.delete(of);
      };
      const go = (): void => {
        forget();
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        forget();
        reject(signal?.reason as Error);
      };
      waiting.set(of, callers.add(go));
      signal?.addEventListener('abort', leave, { once: true });
    });
  }
}
