import { rm } from 'node:fs/promises';
import type { AssertHeld } from '../lake.ts';

/** Removes the folder in which a writer worked on this machine. Without its lock it may be that of the next one, and stays. */
export async function removeScratch(folder: string, assertHeld: AssertHeld): Promise<void> {
  await assertHeld().then(
    () => rm(folder, { recursive: true, force: true }),
    () => undefined,
  );
}
