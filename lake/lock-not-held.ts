import type { AssertHeld } from './lake.ts';

/**
 * Nothing was written or removed, because the lock is lost, or nobody could say. It has neither code nor cause: its reason may have those of an error
 * of storage, which clients and removals retry, report or ignore.
 */
export class LockNotHeld extends Error {
  override readonly name = 'LockNotHeld';
  readonly why: unknown;

  constructor(why: unknown) {
    super('The lock of this writer is not held.');
    this.why = why;
  }
}

/** Throws LockNotHeld with what `assertHeld` throws. */
export async function asLockNotHeld(assertHeld: AssertHeld): Promise<void> {
  try {
    await assertHeld();
  } catch (error) {
    throw new LockNotHeld(error);
  }
}

/** Throws the reason of a LockNotHeld. */
export async function withReason<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof LockNotHeld ? error.why : error;
  }
}

export function isLockNotHeld(error: unknown): error is LockNotHeld {
  return error instanceof LockNotHeld;
}
