import { TablesUnknown } from '../iceberg/errors.ts';
import { LakeKeeps, type LakeRefused } from '../lake/errors.ts';
import { MartsFailed, MartsUnknown } from '../marts/errors.ts';
import { MartInUse } from '../warehouse/marts/publish-marts.ts';
import { LockHeld } from '../warehouse/taking-locks.ts';
import { StillRunning } from './when-free.ts';

/** Undefined where it could not be done, which `onKept` hears. `also`: what else stands in the way of this alone. */
export async function unlessKept<Result>(
  onKept: (problem: Error) => void,
  work: () => Promise<Result>,
  { also = [] }: { also?: readonly (typeof LakeRefused)[] } = {},
): Promise<Result | undefined> {
  try {
    return await work();
  } catch (error) {
    if (![...keepsOnlyItself, ...also].some((kind) => error instanceof kind)) throw error;
    onKept(error as Error);
    return undefined;
  }
}

/** What stands in the way of one thing, and of nothing else that an erasure does. */
const keepsOnlyItself = [
  LakeKeeps,
  MartsFailed,
  MartsUnknown,
  MartInUse,
  LockHeld,
  StillRunning,
  TablesUnknown,
];
