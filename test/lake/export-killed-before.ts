import { expect } from 'vitest';
import type { ExportJob } from '../../activities/export/export-job.ts';
import { runExportProcess } from '../../activities/export/run-export-process.ts';

/** One file operation of an export. */
export interface Moment {
  readonly operation: string;
  /** A regular expression for its path. */
  readonly path: string;
  /** The number of the occurrence, if there are several. */
  readonly time?: number;
}

/** Runs an export in a process of its own, which is killed right before that operation. */
export async function exportKilledBefore(job: ExportJob, moment: Moment): Promise<void> {
  const { NODE_OPTIONS } = process.env;
  process.env.NODE_OPTIONS = `--import ${new URL('./kill-before.mjs', import.meta.url).href}`;
  process.env.TEST_KILL_BEFORE = JSON.stringify(moment);
  const ended = runExportProcess(job, { signal: new AbortController().signal, onProgress: () => undefined });
  // The child has its environment by now.
  if (NODE_OPTIONS === undefined) delete process.env.NODE_OPTIONS;
  else process.env.NODE_OPTIONS = NODE_OPTIONS;
  await expect(ended).rejects.toThrow(/ended with SIGKILL/);
}
