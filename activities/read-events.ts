import { recordTexts } from '../source/record-texts.ts';
import { eventsListed, landEvents } from '../warehouse/tombstones/land-events.ts';
import { prepareEvents } from '../warehouse/tombstones/prepared-events.ts';
import type { Dependencies } from './dependencies.ts';
import { readChunk, type ReadStreamInput, type StreamRead } from './read-chunk.ts';

/** Reads the deletion events on, for one chunk: all resources are in one list (API document 4.6). */
export function readEvents(dependencies: Dependencies, input: ReadStreamInput): Promise<StreamRead> {
  return readChunk(dependencies, input, {
    listed: eventsListed,
    path: '/events',
    plural: 'events',
    queryOf: ({ floorMilliseconds }) => ({
      type: 'object_deleted',
      ...(floorMilliseconds === null ? {} : { last_synced_at_min: String(floorMilliseconds) }),
    }),
    prepare: ({ text, records }) => prepareEvents({ parsed: records, texts: recordTexts(text, 'events') }),
    land: (landing) => landEvents(dependencies.warehouse, landing),
  });
}
