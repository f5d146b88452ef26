import { setTimeout as wait } from 'node:timers/promises';
import { processIdentity } from './process-identity.ts';
import { processTable, type ProcessEntry } from './process-table.ts';
import type { StopStep } from './server-process.ts';

/**
 * Stops servers that a killed `daybook up` left running, gracefully first. Call it only while holding the home's lock.
 *
 * An orphan is recognized by its command line, which names the home's files: no pid is stored, so none can be out of date, and a process
 * that merely got the same pid is never touched. A process that another user has given such a command line is not ours and is not stopped;
 * root stops those of any user, since its servers may run as another user.
 */
export async function stopOrphans(orphans: Orphans): Promise<void> {
  const found = (await processTable()).filter((entry) => isOrphan(entry, orphans));
  await Promise.all(found.map(({ pid }) => stopOrphan(pid, orphans.stopSteps)));
}

export interface Orphans {
  /** Checks the part of the command line before the marker. */
  readonly isProgram: (path: string) => boolean;
  /** The arguments that name the home's file, with a space at both ends. */
  readonly marker: string;
  readonly stopSteps: readonly StopStep[];
}

function isOrphan({ pid, uid, commandLine }: ProcessEntry, { isProgram, marker }: Orphans): boolean {
  const ourUid = process.geteuid?.();
  if (ourUid !== 0 && uid !== ourUid) return false;
  const at = `${commandLine} `.indexOf(marker);
  return at > 0 && pid !== process.pid && isProgram(commandLine.slice(0, at));
}

async function stopOrphan(pid: number, steps: readonly StopStep[]): Promise<void> {
  const identity = await processIdentity(pid);
  const isGone = async (): Promise<boolean> => (await processIdentity(pid)) !== identity;
  for (const { signal, timeoutMs } of steps) {
    if (identity === undefined || (await isGone())) return;
    process.kill(pid, signal);
    const deadline = Date.now() + timeoutMs;
    while (Date.now() < deadline) {
      if (await isGone()) return;
      await wait(25);
    }
  }
  throw new Error(
    `Process ${pid}, left from an earlier start, does not stop even when killed. End it by hand, then start again.`,
  );
}
