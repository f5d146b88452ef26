import { writeFileSync } from 'node:fs';

/**
 * A process that crashes leaves nothing of its memory on a disk, nor do those that it starts: they inherit it. Linux alone dumps by
 * default; Node cannot set limits, but what goes into a dump it can.
 */
export function withoutCoreDumps(): void {
  try {
    writeFileSync('/proc/self/coredump_filter', '0');
  } catch {
    // Another system, or one that does not let it be set: then its own limits hold.
  }
}
