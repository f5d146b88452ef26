import { isCancellation, patched, workflowInfo } from '@temporalio/workflow';
import type { StreamOutcome } from '../activities/finish-run.ts';
import type { ReadStreamInput, StreamRead } from '../activities/read-chunk.ts';
import type { Wait } from '../requests/wait.ts';
import { askedMilliseconds } from './asked-milliseconds.ts';
import { failureOf } from './failure-of.ts';
import { createGate } from './gate.ts';
import type { Progress } from './progress.ts';
import { paging } from './proxies.ts';

export interface Run {
  runId: string;
  connection: string;
  reason: string;
  /** A sync, when absent. */
  kind?: 'reconcile' | 'backfill';
}

/** How a stream ended in this run; `unfinished` when the history has grown long and another execution goes on. */
export type ReadOutcome = StreamOutcome | 'unfinished';

/** Reads the streams of one connection, with one wait for all of them. */
export interface StreamReader {
  /** Reads a stream to its end. Never throws but for a cancellation: a failure is an outcome. */
  read(stream: string): Promise<ReadOutcome>;
  /** Asks something else of the service until it no longer says to wait; `unfinished` as for `ReadOutcome`. */
  ask<Answer extends { wait?: Wait }>(
    stream: string,
    ask: (after: AfterWait) => Promise<Answer>,
  ): Promise<Answer | 'unfinished'>;
  /** The service says that the data is ready: who waits for that asks again. */
  dataReady(): void;
}

/** Reads all lists side by side, and then the events. When one fails the others go on to their end. */
export async function readStreams(
  reader: StreamReader,
  streams: readonly string[],
): Promise<{ outcomes: StreamOutcome[]; unfinished: boolean }> {
  const results = await Promise.all(
    streams.filter((stream) => stream !== 'events').map((stream) => reader.read(stream)),
  );
  // What the lists brought may have been deleted since: the events have the last word. They do not say whose they are, so
  // a list must have got through, which does.
  const gotThrough = results.some((result) => result !== 'unfinished' && result.state === 'done');
  if (streams.includes('events') && gotThrough && !results.includes('unfinished'))
    results.push(await reader.read('events'));
  const outcomes = results.filter((result) => result !== 'unfinished');
  return { outcomes, unfinished: outcomes.length < results.length };
}

export function createReader(run: Run, progress: Progress, readOn: ReadOn = createReadOn(run)): StreamReader {
  const waits = startOfWaits();
  let toldReady = false;
  let asked = 0;
  const gate = createGate((why) => {
    progress.waiting(why);
  });
  return {
    async read(stream) {
      try {
        let after: AfterWait = {};
        for (let pages = 0, chunks = 0; ; chunks += 1) {
          await gate.pass(stream);
          // A history that has grown long is closed between two chunks; the next execution goes on from the passes.
          if (chunks > 0 && workflowInfo().continueAsNewSuggested) return 'unfinished';
          const summary = pages === 0 ? stream : `${stream}: from page ${pages + 1}`;
          const read = await readOn(stream, summary, after);
          pages = read.counts.pages;
          progress.read(stream, read);
          if (read.state === 'done' || read.state === 'unsupported') return { stream, state: read.state };
          after = await waitIfTold(stream, read);
        }
      } catch (error) {
        if (isCancellation(error)) throw error;
        const { type, message } = failureOf(error);
        progress.streamFailed(stream, message);
        return { stream, state: 'failed', failureType: type, failure: message };
      } finally {
        gate.reopen(stream);
      }
    },
    async ask(stream, ask) {
      try {
        let after: AfterWait = {};
        for (;;) {
          await gate.pass(stream);
          // As in `read`; each execution asks at least once.
          if (asked > 0 && workflowInfo().continueAsNewSuggested && patched('asks-on')) return 'unfinished';
          asked += 1;
          const answer = await ask(after);
          if (answer.wait === undefined) return answer;
          after = await waitIfTold(stream, answer);
        }
      } finally {
        gate.reopen(stream);
      }
    },
    dataReady() {
      toldReady = true;
    },
  };

  async function waitIfTold(stream: string, { wait }: { wait?: Wait }): Promise<AfterWait> {
    if (wait === undefined) {
      waits.over();
      gate.reopen(stream);
      return {};
    }
    const milliseconds = waits.milliseconds(wait);
    const until = {
      why: waitInWords(wait.reason, run.connection),
      isOver: () => wait.reason === 'not ready' && toldReady,
    };
    if (wait.ofOneAlone === true) await gate.waitAlone(stream, milliseconds, until);
    else await gate.closeFor(stream, milliseconds, until);
    toldReady = false;
    return { waited: true };
  }
}

/** Part of what an activity is asked for: whether the stream comes from a wait. */
export type AfterWait = Pick<ReadStreamInput, 'waited'>;

/** Reads a stream on, for one chunk. */
export type ReadOn = (stream: string, summary: string, after: AfterWait) => Promise<StreamRead>;

export function createReadOn(run: Run): ReadOn {
  return (stream, summary, after) => {
    const readOn = stream === 'events' ? paging.readEvents : paging.readStream;
    return readOn.executeWithOptions({ summary }, [{ ...run, stream, ...after }]);
  };
}

interface Waits {
  milliseconds(wait: Wait): number;
  over(): void;
}

/**
 * Where the service does not say how long, a tenth of the time waited so far: soon noticed when it takes seconds, few
 * requests when it takes days. Between 5 s and 10 min.
 */
function startOfWaits(): Waits {
  let since: number | undefined;
  return {
    milliseconds(wait) {
      const now = Date.now();
      since ??= now;
      return askedMilliseconds(wait) ?? Math.min(Math.max((now - since) / 10, 5_000), 600_000);
    },
    over() {
      since = undefined;
    },
  };
}

export function waitInWords(reason: Wait['reason'], connection: string): string {
  return reason === 'not ready'
    ? `The service is still preparing the data of ${connection}`
    : 'The service asked for a pause: too many requests';
}
