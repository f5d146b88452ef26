import { eventsStream } from '../resources/index.ts';
import type { Dependencies } from './dependencies.ts';
import { takeAndRead, type ChunkOutcome, type ReadStreamInput } from './read-chunk.ts';
import { listingOfEvents } from './read-events.ts';
import { listingOfStream } from './read-stream.ts';

/** Reads a stream on by one page, within an activity that does more. */
export function readPage(
  dependencies: Dependencies,
  input: ReadStreamInput,
  signal: AbortSignal,
): Promise<ChunkOutcome> {
  const pages = 1;
  return input.stream === eventsStream
    ? takeAndRead(dependencies, input, { listing: listingOfEvents(dependencies), signal, pages })
    : takeAndRead(dependencies, input, {
        listing: listingOfStream(dependencies, input.stream),
        signal,
        pages,
      });
}
