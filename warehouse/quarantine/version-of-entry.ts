import type { Resource } from '../../resources/resource.ts';
import { versionOf } from '../../resources/version-of.ts';

/** Returns the version of a record that could not be stored, in microseconds; undefined if it may be what is wrong with the record. */
export function versionOfEntry(payload: string, resource: Resource): number | undefined {
  return versionOf(JSON.parse(payload), resource);
}
