import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import type { StreamRead } from '../activities/read-chunk.ts';
import { searchAttributes } from '../temporal/search-attributes.ts';

/** Shows a running sync in the Web UI: a table under "Current Details", and the phase as a search attribute. */
export interface Progress {
  read(stream: string, read: StreamRead): void;
  streamFailed(stream: string, message: string): void;
  /** Shows what is done with a stream apart from reading it. */
  note(stream: string, text: string | undefined): void;
  waiting(why: string | undefined): void;
  finished(status: string): void;
  failed(type: string): void;
}

export function trackProgress(input: {
  connection: string;
  /** Absent: a sync. */
  kind?: 'sync' | 'reconcile' | 'backfill';
  searchable: boolean;
  streams: readonly string[];
}): Progress {
  const { connection, kind = 'sync', searchable, streams } = input;
  const reads = new Map<string, StreamRead>();
  const failures = new Map<string, string>();
  const notes = new Map<string, string | undefined>();
  let now = 'reading';

  if (searchable) {
    upsertSearchAttributes([
      { key: searchAttributes.connection, value: connection },
      { key: searchAttributes.kind, value: kind },
      { key: searchAttributes.phase, value: 'reading' },
      // A run that is started like a failed one inherits the failure attribute.
      { key: searchAttributes.failure, value: null },
    ]);
  }
  show();

  return {
    read(stream, read) {
      reads.set(stream, read);
      show();
    },
    streamFailed(stream, message) {
      failures.set(stream, message);
      show();
    },
    note(stream, text) {
      notes.set(stream, text);
      show();
    },
    waiting(why) {
      setPhase(why === undefined ? 'reading' : 'waiting', why);
    },
    finished(status) {
      setPhase(status);
    },
    failed(type) {
      if (searchable) upsertSearchAttributes([{ key: searchAttributes.failure, value: type }]);
      setPhase('failed');
    },
  };

  function setPhase(phase: string, detail?: string): void {
    now = detail ?? phase;
    if (searchable) upsertSearchAttributes([{ key: searchAttributes.phase, value: phase }]);
    show();
  }

  function show(): void {
    const rows = streams.map((stream) =>
      formatRow(stream, reads.get(stream), { failure: failures.get(stream), note: notes.get(stream) }),
    );
    setCurrentDetails([`**${connection}**: ${now}`, '', ...head, ...rows].join('\n'));
  }
}

const head = [
  '| stream | state | pages | records | new | changed | known | quarantined |',
  '|---|---|---:|---:|---:|---:|---:|---:|',
];

function formatRow(
  stream: string,
  read: StreamRead | undefined,
  { failure, note }: { failure: string | undefined; note: string | undefined },
): string {
  const counts = read?.counts;
  const cells = [
    stream,
    failure === undefined
      ? (note ?? inWords[read?.state ?? 'more'])
      : `failed: ${failure.replaceAll('|', ' ')}`,
    counts?.pages ?? 0,
    counts?.read ?? 0,
    counts?.inserted ?? 0,
    counts?.updated ?? 0,
    counts?.unchanged ?? 0,
    counts?.quarantined ?? 0,
  ];
  return `| ${cells.join(' | ')} |`;
}

const inWords: Record<StreamRead['state'], string> = {
  more: 'reading',
  wait: 'waiting',
  done: 'complete',
  unsupported: 'not offered for this platform',
};
