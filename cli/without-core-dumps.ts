import { writeFileSync } from 'node:fs';

/**
 * Prevents crash dumps from writing memory to disk, here and in child processes, which inherit the setting. Only Linux dumps by default.
 * Node cannot set limits, but it can set what goes into a dump.
 */
export function withoutCoreDumps(): void {
  try {
    writeFileSync('/proc/self/coredump_filter', '0');
  } catch {
    // Another system, or one that forbids the setting: its own limits apply.
  }
}
