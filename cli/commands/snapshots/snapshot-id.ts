import { snapshotIdPattern } from '../../../lake/snapshot-id.ts';
import { UsageError } from '../../errors.ts';

/** An ID as it was typed. Throws UsageError. */
export function snapshotId(text: string): string {
  if (!snapshotIdPattern.test(text))
    throw new UsageError(`${text} is no ID of a snapshot: see "daybook snapshots list".`);
  return text;
}
