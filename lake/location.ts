import { resolve } from 'node:path';

/** Whether a lake is in a bucket (`s3://bucket/prefix`), rather than in a folder. */
export function isBucket(location: string): boolean {
  return location.startsWith('s3://');
}

/** For programs that run in another folder. */
export function absoluteLocation(location: string): string {
  return isBucket(location) ? location : resolve(location);
}
