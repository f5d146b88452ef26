import { TablesUnknown } from '../iceberg/errors.ts';
import { LakeKeeps, type LakeRefused } from '../lake/errors.ts';
import { MartsFailed, MartsUnknown } from '../marts/errors.ts';
import { ForeignSchema } from '../warehouse/errors.ts';
import { MartInUse } from '../warehouse/marts/publish-marts.ts';
import { LockHeld } from '../warehouse/transactions/taking-locks.ts';
import { StillRunning } from './when-free.ts';

/** Runs `work`. Errors that affect this work alone go to `onKept`, and it returns undefined. `also`: further errors of that kind. */
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

/** Errors that prevent one step of an erasure, but no other. */
const keepsOnlyItself = [
  LakeKeeps,
  MartsFailed,
  MartsUnknown,
  MartInUse,
  ForeignSchema,
  LockHeld,
  StillRunning,
  TablesUnknown,
];
