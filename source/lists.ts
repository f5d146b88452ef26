import type { Resource, Stream } from '../resources/resource.ts';

/** A list of the API: its path and the request's parameters. */
export interface List {
  /** Path of the list: `/accounting/bills`. */
  readonly path: string;
  /** The member of the response that holds the records. */
  readonly plural: string;
  readonly query: Readonly<Record<string, string>>;
}

/** The bounds of a reading, in Unix milliseconds, inclusive. */
export interface Bounds {
  readonly floorMilliseconds: number | null;
  /** If set, the reading is a window of `updated_at`. */
  readonly ceilingMilliseconds: number | null;
  /** Whether records include `platform_data`, if they have it. */
  readonly expandPlatformData: boolean;
}

export function listOfStream(
  { stream, resource }: { readonly stream: Stream; readonly resource: Resource },
  bounds: Bounds,
): List {
  const query = { ...stream.query, ...boundParameters(stream, bounds), ...expandParameter(resource, bounds) };
  return { path: resource.listPath, plural: resource.name, query };
}

/** The deletions of all resources (API document 4.6). */
export function listOfDeletions({ floorMilliseconds }: Pick<Bounds, 'floorMilliseconds'>): List {
  const floor = floorMilliseconds === null ? {} : { last_synced_at_min: String(floorMilliseconds) };
  return { path: '/events', plural: 'events', query: { type: 'object_deleted', ...floor } };
}

/** A single record of a resource: enough to see whether, and for which company, the service answers. */
export function listOfOne({ listPath: path, name: plural }: Resource): List {
  return { path, plural, query: { limit: '1' } };
}

function boundParameters(stream: Stream, { floorMilliseconds, ceilingMilliseconds }: Bounds): List['query'] {
  // Adjacent windows share a millisecond: a record in it is read twice, and never missed.
  if (ceilingMilliseconds !== null)
    return { updated_at_min: String(floorMilliseconds), updated_at_max: String(ceilingMilliseconds) };
  return floorMilliseconds === null ? {} : { [stream.floorParameter]: String(floorMilliseconds) };
}

function expandParameter(resource: Resource, { expandPlatformData }: Bounds): List['query'] {
  const expandable = resource.columns.some(({ name }) => name === 'platform_data');
  return expandPlatformData && expandable ? { expand: 'platform_data' } : {};
}
