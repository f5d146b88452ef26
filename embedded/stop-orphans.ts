import { setTimeout as wait } from 'node:timers/promises';
import { processIdentity } from './process-identity.ts';
import { processTable, type ProcessEntry } from './process-table.ts';
import type { StopStep } from './stop-steps.ts';

/**
 * Stops servers that a killed `daybook up` left running, gracefully first. Call it only under the home's lock.
 *
 * An orphan is recognised by its own command line, which names the home's files (`marker`): no pid is remembered, so
 * none can be out of date, and a process that merely got the same pid is never touched.
 */
export async function stopOrphans(orphans: { program: RegExp; marker: string; steps: readonly StopStep[] }): Promise<number> {
  const found = (await processTable()).filter((entry) => isOrphan(entry, orphans.program, orphans.marker));
  await Promise.all(found.map(({ pid }) => stopOrphan(pid, orphans.steps)));
  return found.length;
}

function isOrphan({ pid, commandLine }: ProcessEntry, program: RegExp, marker: string): boolean {
  const at = `${commandLine} `.indexOf(marker);
  return pid !== process.pid && at > 0 && program.test(commandLine.slice(0, at).trimEnd());
}

async function stopOrphan(pid: number, steps: readonly StopStep[]): Promise<void> {
  const identity = await processIdentity(pid);
  if (identity === undefined) return;
  for (const step of steps) {
    if ((await processIdentity(pid)) !== identity) return;
    process.kill(pid, step.signal);
    const deadline = Date.now() + step.patienceMs;
    while (Date.now() < deadline) {
      if ((await processIdentity(pid)) !== identity) return;
      await wait(25);
    }
  }
  throw new Error(`Process ${pid} of an earlier start does not stop, even killed; restart the machine or end it by hand.`);
}
