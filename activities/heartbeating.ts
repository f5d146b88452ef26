import { Context, heartbeat } from '@temporalio/activity';

/** The timeout of 20 s would allow longer intervals, but observers, and a cancellation, wait this long. */
export const beatMilliseconds = 2_000;

/**
 * Runs `work` with heartbeats, which also deliver a cancellation. An abort by it is thrown as that cancellation. `progress` is shown in the
 * Web UI meanwhile.
 */
export async function heartbeating<Result>(
  work: (signal: AbortSignal) => Promise<Result>,
  progress: () => unknown = () => undefined,
  everyMilliseconds = beatMilliseconds,
): Promise<Result> {
  const { cancellationSignal, cancelled } = Context.current();
  const beat = setInterval(() => {
    heartbeat(progress());
  }, everyMilliseconds);
  try {
    return await work(cancellationSignal);
  } catch (error) {
    if (cancellationSignal.aborted) return await cancelled;
    throw error;
  } finally {
    clearInterval(beat);
  }
}
