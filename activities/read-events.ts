import { microsecondsOf } from '../resources/instant.ts';
import { listOfDeletions } from '../source/lists.ts';
import { eventsListed, landEvents } from '../warehouse/tombstones/land-events.ts';
import { holdsDeletions } from '../warehouse/tombstones/holds-deletions.ts';
import { prepareEvents, type PreparedEvents } from '../warehouse/tombstones/prepared-events.ts';
import type { Dependencies } from './dependencies.ts';
import { readChunk, type StreamSource, type ReadStreamInput, type StreamRead } from './read-chunk.ts';

/** Continues the deletion events, for one chunk. One list holds the events of all resources (API document 4.6). */
export function readEvents(dependencies: Dependencies, input: ReadStreamInput): Promise<StreamRead> {
  return readChunk(dependencies, input, eventsSource(dependencies));
}

export function eventsSource({ warehouse }: Pick<Dependencies, 'warehouse'>): StreamSource<PreparedEvents> {
  return {
    listed: eventsListed,
    listWithin: listOfDeletions,
    prepare: prepareEvents,
    hasNews: ({ deletions, refused, highest }, watermark) =>
      deletions.size + refused.size > 0 ||
      (highest !== null && (microsecondsOf(highest.version) ?? Infinity) > watermark),
    holds: (connectionId, page) => holdsDeletions(warehouse, connectionId, page),
    land: (landing) => landEvents(warehouse, landing),
  };
}
