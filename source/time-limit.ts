/**
 * Runs something abortable for at most `milliseconds`. Its signal is then aborted with TimeLimitReached, or, whenever the outer signal is
 * aborted, with that signal's reason.
 */
export async function withTimeLimit<Result>(
  limit: { readonly milliseconds: number; readonly signal: AbortSignal | undefined },
  run: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const { milliseconds, signal } = limit;
  signal?.throwIfAborted();
  const abort = new AbortController();
  const timer = setTimeout(() => {
    abort.abort(new TimeLimitReached(milliseconds));
  }, milliseconds);
  const forward = (): void => {
    abort.abort(signal?.reason);
  };
  signal?.addEventListener('abort', forward, { once: true });
  try {
    return await run(abort.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', forward);
  }
}

export class TimeLimitReached extends Error {
  override readonly name = 'TimeLimitReached';
  readonly code = 'TIME_LIMIT_REACHED';

  constructor(milliseconds: number) {
    super(`It took longer than ${milliseconds} ms.`);
  }
}
