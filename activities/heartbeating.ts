import { Context, heartbeat } from '@temporalio/activity';

/** For the timeout of 20 s less would do; whoever watches, or cancels, waits this long. */
export const beatMilliseconds = 2_000;

/**
 * Runs `work` with heartbeats, which are also how a cancellation gets here. An abort by it comes out as that cancellation.
 * `progress` is shown in the Web UI meanwhile.
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
