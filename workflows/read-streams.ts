import { isCancellation, workflowInfo } from '@temporalio/workflow';
import type { StreamOutcome } from '../activities/finish-run.ts';
import { failureOf } from './failure-of.ts';
import { createGate, type Gate } from './gate.ts';
import type { Progress } from './progress.ts';
import { paging } from './proxies.ts';

export interface Run {
  runId: string;
  connection: string;
  reason: string;
}

/** Reads all streams side by side. When one fails the others go on to their end. */
export async function readStreams(
  run: Run,
  streams: readonly string[],
  progress: Progress,
): Promise<{ outcomes: StreamOutcome[]; unfinished: boolean }> {
  const gate = createGate((why) => {
    progress.waiting(why);
  });
  const waits = startOfWaits();
  const results = await Promise.all(
    streams.map((stream) => readStream(run, { stream, gate, waits, progress })),
  );
  const outcomes = results.filter((result) => result !== 'unfinished');
  return { outcomes, unfinished: outcomes.length < results.length };
}

async function readStream(
  run: Run,
  { stream, gate, waits, progress }: { stream: string; gate: Gate; waits: Waits; progress: Progress },
): Promise<StreamOutcome | 'unfinished'> {
  try {
    for (let pages = 0; ;) {
      await gate.pass(stream);
      // A history that has grown long is closed between two chunks; the next execution goes on from the passes.
      if (workflowInfo().continueAsNewSuggested) return 'unfinished';
      const summary = pages === 0 ? stream : `${stream}: from page ${pages + 1}`;
      const read = await paging.readStream.executeWithOptions({ summary }, [{ ...run, stream }]);
      pages = read.counts.pages;
      progress.read(stream, read);
      if (read.state === 'done' || read.state === 'unsupported') return { stream, state: read.state };
      if (read.wait === undefined) {
        waits.over();
        gate.reopen(stream);
      } else {
        await gate.closeUntil(stream, waits.until(read.wait), inWords(read.wait.reason, run.connection));
      }
    }
  } catch (error) {
    if (isCancellation(error)) throw error;
    const { type, message } = failureOf(error);
    progress.streamFailed(stream, message);
    return { stream, state: 'failed', failureType: type, failure: message };
  } finally {
    gate.reopen(stream);
  }
}

interface Waits {
  until(wait: { notBefore: number | null }): number;
  over(): void;
}

/**
 * Where the service does not say how long, a tenth of the time waited so far: soon noticed when it takes seconds, few
 * requests when it takes days. Between 5 s and 10 min.
 */
function startOfWaits(): Waits {
  let since: number | undefined;
  return {
    until({ notBefore }) {
      const now = Date.now();
      since ??= now;
      return notBefore ?? now + Math.min(Math.max((now - since) / 10, 5_000), 600_000);
    },
    over() {
      since = undefined;
    },
  };
}

function inWords(reason: 'not ready' | 'rate limited', connection: string): string {
  return reason === 'not ready'
    ? `The service is still preparing the data of ${connection}`
    : 'The service asked for a pause: too many requests';
}
