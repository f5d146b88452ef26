import { microsecondsOf } from './instant.ts';
import type { Resource } from './resource.ts';

/** Returns the microseconds of a record's version; undefined if it has no valid time. */
export function versionOf(record: unknown, { version }: Resource): number | undefined {
  const text = (record as Readonly<Record<string, unknown>> | null)?.[version];
  return typeof text === 'string' ? microsecondsOf(text) : undefined;
}
