import { streamNamed } from '../resources/index.ts';
import { listOfStream } from '../source/lists.ts';
import { landPage } from '../warehouse/landing/land-page.ts';
import { preparePage } from '../warehouse/landing/prepared-page.ts';
import type { Dependencies } from './dependencies.ts';
import { readChunk, type ReadStreamInput, type StreamRead } from './read-chunk.ts';

/** Reads a stream of records on, for one chunk. */
export function readStream(dependencies: Dependencies, input: ReadStreamInput): Promise<StreamRead> {
  const { warehouse, policies } = dependencies;
  const { lookbackMilliseconds } = policies;
  const listed = streamNamed(input.stream);
  const { resource } = listed;
  return readChunk(dependencies, input, {
    listed: resource,
    listWithin: (bounds) => listOfStream(listed, bounds),
    prepare: (records) => preparePage(resource, records),
    land: (landing) => landPage(warehouse, { ...landing, resource, lookbackMilliseconds }),
  });
}
