import type { RunRead, RunStreamRead } from '../warehouse/runs/read-run.ts';
import { formatTable } from './printer.ts';

/** Returns a run's streams as a table for a terminal. `now` ends the time of streams that are still being read. */
export function runTable(run: RunRead, now: Date): string {
  return formatTable(
    ['stream', 'state', 'pages', 'records', 'records/s', 'new', 'changed', 'known', 'deleted', 'quarantined'],
    run.streams.map((stream) => [
      stream.stream,
      inWords[stream.status],
      stream.pages,
      stream.read,
      recordsPerSecond(stream, now),
      stream.inserted,
      stream.updated,
      stream.unchanged,
      stream.deleted,
      stream.quarantined,
    ]),
  );
}

function recordsPerSecond(
  { read, started_at: started, finished_at: finished }: RunStreamRead,
  now: Date,
): number {
  const seconds = ((finished ?? now).getTime() - started.getTime()) / 1000;
  return Math.round(read / Math.max(seconds, 0.001));
}

const inWords: Record<RunStreamRead['status'], string> = {
  running: 'reading',
  succeeded: 'complete',
  partial: 'partial',
  failed: 'failed',
  cancelled: 'cancelled',
  interrupted: 'interrupted',
  unsupported: 'not offered',
};
