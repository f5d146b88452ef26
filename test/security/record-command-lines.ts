import { setTimeout as wait } from 'node:timers/promises';
import { processTable } from '../../embedded/process-table.ts';
import type { Place } from './find-planted.ts';

/** Reads the command lines of all processes, which everybody on the machine can see, until what it returns is called. */
export function recordCommandLines(): () => Promise<Place> {
  const seen = new Set<string>();
  const over = new AbortController();
  const recording = record();
  return async () => {
    over.abort();
    await recording;
    return { name: 'the list of processes', content: [...seen].join('\n') };
  };

  async function record(): Promise<void> {
    while (!over.signal.aborted) {
      for (const { commandLine } of await processTable()) seen.add(commandLine);
      await wait(100, undefined, { signal: over.signal }).catch(() => undefined);
    }
  }
}
