import { streamNamed } from '../resources/index.ts';
import { listOfStream } from '../source/lists.ts';
import { createFindHeld } from '../warehouse/landing/find-held.ts';
import { holdsRecords } from '../warehouse/landing/holds-records.ts';
import { landPage } from '../warehouse/landing/land-page.ts';
import { preparePage } from '../warehouse/landing/prepared-page.ts';
import type { PreparedPage } from '../warehouse/landing/prepared-page.ts';
import type { Dependencies } from './dependencies.ts';
import { readChunk, type StreamSource, type ReadStreamInput, type StreamRead } from './read-chunk.ts';

/** Continues a stream of records, for one chunk. */
export function readStream(dependencies: Dependencies, input: ReadStreamInput): Promise<StreamRead> {
  return readChunk(dependencies, input, recordsSource(dependencies, input.stream));
}

export function recordsSource(
  { warehouse, policies }: Pick<Dependencies, 'warehouse' | 'policies'>,
  stream: string,
): StreamSource<PreparedPage> {
  const { lookbackMilliseconds } = policies;
  const listed = streamNamed(stream);
  const { resource } = listed;
  return {
    listed: resource,
    listWithin: (bounds) => listOfStream(listed, bounds),
    createFindHeld: (connectionId) => createFindHeld(warehouse, { connectionId, resource }),
    prepare: (records) => preparePage(resource, records),
    hasNews: ({ read }) => read > 0,
    holds: async (connectionId, { records, refused }) =>
      refused.length === 0 &&
      records.length > 0 &&
      (await holdsRecords(warehouse, { connectionId, resource, records })),
    land: (landing) => landPage(warehouse, { ...landing, resource, lookbackMilliseconds }),
  };
}
