/** Limits the number of concurrent callers. Waiting callers take turns by their `of`; within one `of`, first come, first served. */
export interface ConcurrencyLimit {
  /** Rejects with the signal's reason if it is aborted before the work has begun. */
  run<Result>(
    caller: { readonly of: string; readonly signal?: AbortSignal | undefined },
    work: () => Promise<Result>,
  ): Promise<Result>;
}

export function limitConcurrency(count: number): ConcurrencyLimit {
  /** Waiting callers by `of`, in the order of their turns. */
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

  /** Passes the slot of a finished caller to the next one, so that no later caller gets in between. */
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
