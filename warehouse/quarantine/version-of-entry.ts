import { microsecondsOf } from '../../resources/instant.ts';
import type { Resource } from '../../resources/resource.ts';

/** Microseconds of the version of a record that nobody could store; undefined where that may be what is wrong with it. */
export function versionOfEntry(payload: string, { version }: Resource): number | undefined {
  const record = JSON.parse(payload) as Readonly<Record<string, unknown>> | null;
  const text = record?.[version];
  return typeof text === 'string' ? microsecondsOf(text) : undefined;
}
