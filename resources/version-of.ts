import { microsecondsOf } from './instant.ts';
import type { Resource } from './resource.ts';

/** Microseconds of the version of a record; undefined where it states none that is a time. */
export function versionOf(record: unknown, { version }: Resource): number | undefined {
  const text = (record as Readonly<Record<string, unknown>> | null)?.[version];
  return typeof text === 'string' ? microsecondsOf(text) : undefined;
}
