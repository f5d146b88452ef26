import type { Lake } from '../../../lake/lake.ts';
import { snapshotIdPattern } from '../../../lake/manifest/snapshot-id.ts';
import { UsageError } from '../../errors.ts';

/** Returns the typed ID if it is valid. Throws UsageError otherwise. */
export function snapshotId(text: string): string {
  if (!snapshotIdPattern.test(text))
    throw new UsageError(`${text} is not a snapshot ID: see "daybook snapshots list".`);
  return text;
}

export function noSnapshot({ location }: Lake, id: string): UsageError {
  return new UsageError(`There is no snapshot ${id} in ${location}: see "daybook snapshots list".`);
}
