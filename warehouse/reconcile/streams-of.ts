import type { Resource } from '../../resources/resource.ts';

/** The names of a resource's streams. */
export function streamsOf(resource: Resource): string[] {
  return resource.streams.map(({ name }) => name);
}
