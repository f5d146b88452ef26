import { eventsStream } from '../resources/index.ts';
import type { Dependencies } from './dependencies.ts';
import {
  takeAndRead,
  type ChunkOutcome,
  type Listing,
  type RunAccess,
  type ReadStreamInput,
} from './read-chunk.ts';
import { listingOfEvents } from './read-events.ts';
import { listingOfStream } from './read-stream.ts';

/** Reads the next page of a stream, within an activity that does more and has begun the run. */
export function readPage(
  dependencies: Dependencies,
  input: ReadStreamInput,
  { runAccess, signal }: { runAccess: RunAccess; signal: AbortSignal },
): Promise<ChunkOutcome> {
  const read = <Page>(listing: Listing<Page>): Promise<ChunkOutcome> =>
    takeAndRead(dependencies, input, { listing, runAccess, signal, pages: 1 });
  return input.stream === eventsStream
    ? read(listingOfEvents(dependencies))
    : read(listingOfStream(dependencies, input.stream));
}
