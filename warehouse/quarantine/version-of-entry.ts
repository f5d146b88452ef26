import type { Resource } from '../../resources/resource.ts';
import { versionOf } from '../../resources/version-of.ts';

/** Microseconds of the version of a record that nobody could store; undefined where that may be what is wrong with it. */
export function versionOfEntry(payload: string, resource: Resource): number | undefined {
  return versionOf(JSON.parse(payload), resource);
}
