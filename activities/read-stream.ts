import { streamNamed } from '../resources/index.ts';
import type { Resource, Stream } from '../resources/resource.ts';
import { recordTexts } from '../source/record-texts.ts';
import { landPage } from '../warehouse/landing/land-page.ts';
import { preparePage } from '../warehouse/landing/prepared-page.ts';
import type { Dependencies } from './dependencies.ts';
import { readChunk, type Bounds, type ReadStreamInput, type StreamRead } from './read-chunk.ts';

/** Reads a stream of records on, for one chunk. */
export function readStream(dependencies: Dependencies, input: ReadStreamInput): Promise<StreamRead> {
  const { warehouse, lookbackMilliseconds } = dependencies;
  const { stream, resource } = streamNamed(input.stream);
  const { kind = 'sync' } = input;
  return readChunk(dependencies, input, {
    listed: resource,
    path: resource.listPath,
    plural: resource.name,
    queryOf: (bounds) => ({
      ...stream.query,
      ...(kind === 'backfill' ? windowOf(bounds) : floorOf(stream, bounds)),
      ...expansionOf(resource, bounds),
    }),
    prepare: ({ text, records }) =>
      preparePage(resource, { parsed: records, texts: recordTexts(text, resource.name) }),
    land: (landing) => landPage(warehouse, { ...landing, resource, lookbackMilliseconds }),
  });
}

function floorOf(stream: Stream, { floorMilliseconds }: Bounds): Record<string, string> {
  return floorMilliseconds === null ? {} : { [stream.floorParameter]: String(floorMilliseconds) };
}

/** Two windows share the millisecond between them: a record that falls into it is read twice, and never missed. */
function windowOf({ floorMilliseconds, ceilingMilliseconds }: Bounds): Record<string, string> {
  return { updated_at_min: String(floorMilliseconds), updated_at_max: String(ceilingMilliseconds) };
}

function expansionOf(resource: Resource, { access }: Bounds): Record<string, string> {
  const expandable = resource.columns.some(({ name }) => name === 'platform_data');
  return access.expandPlatformData && expandable ? { expand: 'platform_data' } : {};
}
