import { eventsStream } from '../resources/index.ts';
import type { Dependencies } from './dependencies.ts';
import {
  takeAndRead,
  type ChunkOutcome,
  type StreamSource,
  type RunAccess,
  type ReadStreamInput,
} from './read-chunk.ts';
import { eventsSource } from './read-events.ts';
import { recordsSource } from './read-stream.ts';

/** Reads the next page of a stream, within an activity that does more and has begun the run. */
export function readPage(
  dependencies: Dependencies,
  input: ReadStreamInput,
  { runAccess, signal }: { runAccess: RunAccess; signal: AbortSignal },
): Promise<ChunkOutcome> {
  const read = <Page>(source: StreamSource<Page>): Promise<ChunkOutcome> =>
    takeAndRead(dependencies, input, { source, runAccess, signal, pages: 1 });
  return input.stream === eventsStream
    ? read(eventsSource(dependencies))
    : read(recordsSource(dependencies, input.stream));
}
