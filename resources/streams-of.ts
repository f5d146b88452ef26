import type { Resource } from './resource.ts';

/** The names of a resource's streams. */
export function streamsOf(resource: Resource): string[] {
  return resource.streams.map(({ name }) => name);
}

/** The stream in which a run counts its work on a whole resource. */
export function firstStream({ streams: [first] }: Resource): string {
  return first.name;
}
