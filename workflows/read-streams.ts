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
  /** Absent: a sync. */
  kind?: 'reconcile' | 'backfill';
}

/** The result of a stream in this run; `unfinished` if the history has grown long and another execution continues. */
export type ReadOutcome = StreamOutcome | 'unfinished';

/** Reads the streams of one connection, with one wait for all of them. */
export interface StreamReader {
  /** Reads a stream to its end. Throws only a cancellation: a failure is an outcome. */
  read(stream: string): Promise<ReadOutcome>;
  /** Makes another request to the service until it no longer says to wait; `unfinished` as in `ReadOutcome`. */
  ask<Answer extends { wait?: Wait }>(
    stream: string,
    ask: (after: AfterWait) => Promise<Answer>,
  ): Promise<Answer | 'unfinished'>;
  /** The service announces that the data is ready: waiting streams ask again. */
  dataReady(): void;
}

/** Reads all lists concurrently, and then the events. If one fails, the others continue to their end. */
export async function readStreams(
  reader: StreamReader,
  streams: readonly string[],
): Promise<{ outcomes: StreamOutcome[]; unfinished: boolean }> {
  const results = await Promise.all(
    streams.filter((stream) => stream !== 'events').map((stream) => reader.read(stream)),
  );
  // The events come last, because records of the lists may have been deleted since. Events do not name their company, so
  // a list, which does, must have succeeded.
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
          // A long history is closed between two chunks; the next execution continues from the passes.
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

/** The part of an activity's input that says whether the stream comes from a wait. */
export type AfterWait = Pick<ReadStreamInput, 'waited'>;

/** Continues a stream, for one chunk. */
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
 * If the service does not say how long, waits a tenth of the time waited so far: it notices soon if that takes seconds, and sends few requests
 * if it takes days. Between 5 s and 10 min.
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
