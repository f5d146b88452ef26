import { dropWindows, nextWindow } from '../warehouse/passes/backfill-windows.ts';
import { isStreamRunning } from '../warehouse/runs/is-stream-running.ts';
import { readCounts } from '../warehouse/runs/read-counts.ts';
import { startChunk } from './chunk.ts';
import type { Dependencies } from './dependencies.ts';
import { heartbeating } from './heartbeating.ts';
import type { ReadStreamInput, StreamRead } from './read-chunk.ts';
import { readStream } from './read-stream.ts';
import { RunOver } from './run-over.ts';

export interface ReadWindowsInput extends Omit<ReadStreamInput, 'kind' | 'part'> {
  /** The name of the backfill's plan. */
  plan: string;
}

export interface WindowsRead extends StreamRead {
  windowsLeft: number;
}

/** Continues the windows of a backfill, the oldest first, for one chunk. A finished window is removed. */
export function readWindows(dependencies: Dependencies, input: ReadWindowsInput): Promise<WindowsRead> {
  const { warehouse, stopping } = dependencies;
  const { plan, waited, ...reading } = input;
  const ofStream = { connectionId: input.connection, stream: input.stream, plan };
  const chunk = startChunk(stopping);
  // Each window heartbeats for itself, but many end before their first heartbeat.
  return heartbeating(async (signal) => {
    for (let windows = 0; ; windows += 1) {
      signal.throwIfAborted();
      const next = await nextWindow(warehouse, ofStream);
      if (next === undefined)
        return { state: 'done', windowsLeft: 0, counts: await readCounts(warehouse, input) };
      // The window that was told to wait is the first.
      const first = windows === 0 && waited === true ? { waited } : {};
      const read = await readStream(dependencies, {
        ...reading,
        ...first,
        kind: 'backfill',
        part: next.part,
      });
      if (read.state === 'unsupported') {
        await dropWindows(warehouse, ofStream);
        return { ...read, windowsLeft: 0 };
      }
      if (read.state !== 'done') return { ...read, windowsLeft: next.left };
      // Taking a window reopens the stream in its run, which must not happen to a run that has ended meanwhile.
      if (!(await isStreamRunning(warehouse, input))) throw new RunOver(input.stream);
      // A window costs at least one page.
      if (next.left > 1 && chunk.pageWasLast()) return { ...read, state: 'more', windowsLeft: next.left - 1 };
    }
  });
}
